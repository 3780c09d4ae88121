//! Settings of a node in a fleet.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Part of a node in a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetRole {
    /// Takes blocks from peers or mines, and publishes all that it stores.
    Importer,
    /// Takes blocks from the log only.
    Replica,
}

impl FleetRole {
    /// Returns the name of the setting.
    pub fn name(self) -> &'static str {
        match self {
            Self::Importer => "importer",
            Self::Replica => "replica",
        }
    }
}

/// How a node proves its identity to the server. Not `Debug`: never printed.
#[derive(Clone)]
pub enum Credentials {
    /// Those of the URL, or none.
    Url,
    /// A user.
    User {
        /// Its name.
        name: String,
        /// Its password.
        password: String,
    },
    /// A token.
    Token(String),
}

/// Fault of a file with credentials.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file has another form.
    #[error("{path} must have one line, USER:PASSWORD or a token")]
    Form {
        /// The file.
        path: PathBuf,
    },
}

impl Credentials {
    /// Reads a file with one line: USER:PASSWORD or a token.
    pub fn read(path: &Path) -> Result<Self, CredentialsError> {
        let unreadable = |source| CredentialsError::Unreadable { path: path.to_path_buf(), source };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let line = text.trim();
        if line.is_empty() || line.contains(['\n', '\r']) {
            return Err(CredentialsError::Form { path: path.to_path_buf() });
        }
        Ok(match line.split_once(':') {
            Some((name, password)) => Self::User { name: name.into(), password: password.into() },
            None => Self::Token(line.into()),
        })
    }
}

/// Files for TLS (PEM).
#[derive(Debug, Clone, Default)]
pub struct TlsFiles {
    /// Certificates of the authorities to trust besides those of the system.
    pub authorities: Option<PathBuf>,
    /// Certificate and private key of this node.
    pub client: Option<(PathBuf, PathBuf)>,
    /// Whether a connection without TLS is refused.
    pub is_required: bool,
}

/// Settings of a node in a fleet. Not `Debug`: the URL may have a password.
#[derive(Clone)]
pub struct FleetOptions {
    /// Part of the node.
    pub role: FleetRole,
    /// URLs of the servers: nats:// or tls://, several separated by commas.
    pub url: String,
    /// How the node proves its identity.
    pub credentials: Credentials,
    /// Files for TLS.
    pub tls: TlsFiles,
    /// Name of the node, unique in the fleet: letters, digits, - and _.
    pub name: String,
    /// Version of the node, announced to the others.
    pub version: String,
    /// Time for which a new block log keeps a block.
    pub block_retention: Duration,
    /// Copies of new streams in a cluster of servers, 1 to 5.
    pub stream_copies: usize,
}

impl FleetOptions {
    /// Returns the URLs without user and password.
    pub(crate) fn shown_url(&self) -> ShownUrl<'_> {
        ShownUrl(&self.url)
    }
}

/// URLs without user and password.
pub(crate) struct ShownUrl<'a>(&'a str);

impl fmt::Display for ShownUrl<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, url) in self.0.split(',').enumerate() {
            let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            write!(formatter, "{}{scheme}://{host}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_passwords() {
        let shown = |url| ShownUrl(url).to_string();
        assert_eq!(shown("nats://user:p@ss@host:4222"), "nats://host:4222");
        assert_eq!(shown("tls://a,token@b"), "tls://a,nats://b");
    }

    #[test]
    fn credentials_are_a_user_or_a_token() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credentials");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Credentials::read(&path)
        };
        let user = read("node:pass:word\n").unwrap_or(Credentials::Url);
        assert!(matches!(user, Credentials::User { name, password } if name == "node" && password == "pass:word"));
        assert!(matches!(read("token\n").unwrap_or(Credentials::Url), Credentials::Token(token) if token == "token"));
        assert!(matches!(read("\n").err(), Some(CredentialsError::Form { .. })));
        assert!(matches!(read("a\nb").err(), Some(CredentialsError::Form { .. })));
        let absent = Credentials::read(&dir.path().join("absent")).err().unwrap();
        assert!(absent.to_string().contains("absent cannot be read"), "{absent}");
    }
}
