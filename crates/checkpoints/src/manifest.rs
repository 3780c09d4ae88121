//! The signed list of the files of a checkpoint: a line of JSON, the public key, and the signature of the line, in hex.

use rhizome_blobs::{PublisherKey, SigningKey};
use rhizome_primitives::B256;
use rhizome_storage::{ChainIdentity, LAYOUT, NodeVersions};
use serde::{Deserialize, Serialize};

use crate::error::CheckpointError;
use crate::piece::{PIECE_BYTES, is_piece_hash};

/// Name of the file that names the latest checkpoint.
pub(crate) const LATEST: &str = "latest";
/// Longest manifest, in bytes: a database of 7 TB.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 64 << 20;
const SUFFIX: &str = ".checkpoint";
const FORMAT: u32 = 1;

/// A file of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointFile {
    /// Name, with the folder `nodes` for node files.
    pub name: String,
    /// Length, in bytes.
    pub bytes: u64,
    /// SHA-256 of each piece of 8 MiB, in hex. The last one may be shorter.
    pub pieces: Vec<String>,
}

/// Place in the block log of a fleet up to which the database has all blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointPlace {
    /// Identity of the log.
    pub log: u64,
    /// Sequence number of the last message.
    pub sequence: u64,
}

/// Content of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointManifest {
    format: u32,
    /// Version of the layout of the database.
    pub layout: u32,
    /// Chain id.
    pub chain_id: u8,
    /// Hash of the genesis block.
    #[serde(with = "hash_text")]
    pub genesis: B256,
    /// Number of the head.
    pub number: u64,
    /// Its hash.
    #[serde(with = "hash_text")]
    pub hash: B256,
    /// Its state root in the current trie format.
    #[serde(with = "hash_text")]
    pub state_root: B256,
    /// Whether tries of all blocks are kept (`storage.proofs`).
    pub has_all_tries: bool,
    /// Number of the oldest block whose state is kept (`storage.history`).
    pub oldest_state: u64,
    /// The place in the block log; absent in a node without a fleet.
    pub place: Option<CheckpointPlace>,
    /// Time of the copy, in seconds since 1970.
    pub created: u64,
    /// Files of the database.
    pub files: Vec<CheckpointFile>,
}

/// Hashes as hex in JSON.
mod hash_text {
    use rhizome_primitives::B256;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &B256, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(hash)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<B256, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(Error::custom)
    }
}

/// The part of a manifest that every version of the format has.
#[derive(Deserialize)]
struct ManifestFormat {
    format: u32,
}

impl CheckpointManifest {
    /// Returns the manifest of a database without its files.
    pub(crate) fn new(identity: &ChainIdentity, versions: NodeVersions, head: (u64, B256, B256)) -> Self {
        let (number, hash, state_root) = head;
        Self {
            format: FORMAT,
            layout: LAYOUT,
            chain_id: identity.chain_id,
            genesis: identity.genesis,
            number,
            hash,
            state_root,
            has_all_tries: versions == NodeVersions::All,
            oldest_state: 0,
            place: None,
            created: 0,
            files: Vec::new(),
        }
    }

    /// Returns the name of the manifest in its location.
    pub fn name(&self) -> String {
        format!("{:010}-{}{SUFFIX}", self.number, hex::encode(self.hash))
    }

    /// Returns the length of all files, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the versions of trie nodes in the database.
    pub(crate) fn versions(&self) -> NodeVersions {
        if self.has_all_tries { NodeVersions::All } else { NodeVersions::Current }
    }

    /// Encodes and signs the manifest.
    pub(crate) fn encode(&self, key: &SigningKey) -> Result<Vec<u8>, CheckpointError> {
        let mut out = serde_json::to_vec(self).map_err(|error| CheckpointError::damaged(&self.name(), error))?;
        let signature = hex::encode(key.sign(&out));
        out.extend(format!("\n{}\n{signature}\n", key.publisher()).bytes());
        Ok(out)
    }

    /// Decodes a manifest and verifies its signature. `file` is its address.
    pub(crate) fn decode(
        file: &str,
        bytes: &[u8],
        trusted: Option<PublisherKey>,
    ) -> Result<(Self, PublisherKey), CheckpointError> {
        let damaged = |fault: &str| CheckpointError::damaged(file, fault);
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let (Some(signed), Some(publisher), Some(signature), Some([]), None) =
            (lines.next(), lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Err(damaged("the manifest has not three lines"));
        };
        let publisher = std::str::from_utf8(publisher).ok().and_then(|text| text.parse::<PublisherKey>().ok());
        let publisher = publisher.ok_or_else(|| damaged("the key of the publisher is not a public key"))?;
        let signature = hex::decode(signature).map_err(|_not_hex| damaged("the signature is not hex"))?;
        if !publisher.has_signed(signed, &signature) {
            return Err(damaged("the signature of the manifest is wrong"));
        }
        if trusted.is_some_and(|trusted| trusted != publisher) {
            return Err(CheckpointError::Publisher { file: file.to_owned(), publisher: publisher.to_string() });
        }
        let malformed = |error: serde_json::Error| CheckpointError::damaged(file, error);
        let ManifestFormat { format } = serde_json::from_slice(signed).map_err(malformed)?;
        let version = |part, found, expected| CheckpointError::Version { file: file.to_owned(), part, found, expected };
        if format != FORMAT {
            return Err(version("format", format, FORMAT));
        }
        let manifest: Self = serde_json::from_slice(signed).map_err(malformed)?;
        if manifest.layout != LAYOUT {
            return Err(version("layout", manifest.layout, LAYOUT));
        }
        manifest.check_files().map_err(damaged)?;
        Ok((manifest, publisher))
    }

    fn check_files(&self) -> Result<(), &'static str> {
        let mut names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|two| two.first() == two.last()) {
            return Err("the manifest names a file twice");
        }
        for file in &self.files {
            if !is_file_name(&file.name) {
                return Err("the manifest has a file with an impossible name");
            }
            if file.pieces.len() as u64 != file.bytes.div_ceil(PIECE_BYTES) {
                return Err("the manifest has a file whose length does not fit its pieces");
            }
            if !file.pieces.iter().all(|piece| is_piece_hash(piece)) {
                return Err("the manifest has a piece that is not a hash");
            }
        }
        Ok(())
    }
}

/// Whether a name is that of a manifest.
pub(crate) fn is_manifest_name(name: &str) -> bool {
    let parts = name.strip_suffix(SUFFIX).and_then(|name| name.split_once('-'));
    parts.is_some_and(|(number, hash)| {
        (10..=20).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit()) && is_piece_hash(hash)
    })
}

/// Whether a name is that of a file of a database: at most one folder deep, and not hidden.
fn is_file_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.len() <= 100
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    match name.split_once('/') {
        Some((folder, file)) => is_plain(folder) && is_plain(file),
        None => is_plain(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_their_folder() {
        for name in ["CURRENT", "000012.sst", "nodes/000001.index"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in ["", ".", "..", "../x", "/etc/passwd", "nodes/../x", "nodes/a/b", "a\\b", "nodes/"] {
            assert!(!is_file_name(name), "{name}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let key = SigningKey::read_or_create(&folder.path().join("key")).unwrap();
        let identity = ChainIdentity { chain_id: 33, genesis: B256::repeat_byte(1) };
        let manifest = CheckpointManifest::new(&identity, NodeVersions::All, (1, B256::ZERO, B256::ZERO));
        let decode = |manifest: &CheckpointManifest| {
            CheckpointManifest::decode("here", &manifest.encode(&key).unwrap(), Some(key.publisher()))
        };
        assert_eq!(decode(&manifest).unwrap().0, manifest);
        for (part, changed) in [
            ("format", CheckpointManifest { format: FORMAT + 1, ..manifest.clone() }),
            ("layout", CheckpointManifest { layout: LAYOUT + 1, ..manifest.clone() }),
        ] {
            let Err(CheckpointError::Version { part: found, .. }) = decode(&changed) else { panic!("{part}") };
            assert_eq!(found, part);
        }
    }

    #[test]
    fn names_of_manifests_have_a_number_and_a_hash() {
        let hash = "ab".repeat(32);
        assert!(is_manifest_name(&format!("0000000012-{hash}.checkpoint")));
        for name in [format!("12-{hash}.checkpoint"), format!("0000000012-{hash}"), "../x.checkpoint".to_owned()] {
            assert!(!is_manifest_name(&name), "{name}");
        }
    }
}
