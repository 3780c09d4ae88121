//! Bitcoin in these tests: keys, and blocks of a coinbase and one other transaction.

use rhizome_bitcoin::{
    BitcoinHeader, BitcoinTransaction, Digest, OutPoint, TransactionInput, TransactionOutput, sha256d,
};
use rhizome_primitives::{hex, keccak256};
use secp256k1::{Message, PublicKey, SECP256K1, SecretKey};

/// Target of the headers of regtest, in the compact form.
const REGTEST_BITS: u32 = 0x207f_ffff;
const GENESIS_HASH: Digest = hex!("06226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910f");

/// The key with a number; 1 to 3 are the members of the first federation of regtest.
pub(super) fn secret(number: usize) -> SecretKey {
    SecretKey::from_byte_array(keccak256(format!("federator{number}")).0).unwrap()
}

pub(super) fn public(secret: &SecretKey) -> [u8; 33] {
    PublicKey::from_secret_key_global(secret).serialize()
}

/// Returns the signature of a hash, in DER.
pub(super) fn signature(secret: &SecretKey, hash: Digest) -> Vec<u8> {
    SECP256K1.sign_ecdsa(Message::from_digest(hash), secret).serialize_der().to_vec()
}

/// The Bitcoin main chain.
pub(super) struct StandIn {
    tip: Digest,
    pub(super) height: usize,
}

/// A block with two transactions.
pub(super) struct StandInBlock {
    pub(super) header: BitcoinHeader,
    pub(super) coinbase: BitcoinTransaction,
    ids: [Digest; 2],
    hashes: [Digest; 2],
}

impl StandIn {
    pub(super) fn new() -> Self {
        Self { tip: GENESIS_HASH, height: 0 }
    }

    /// Returns the next header. Half of all hashes meet the target.
    pub(super) fn next_header(&mut self, root: Digest) -> BitcoinHeader {
        self.height += 1;
        let time = 1_500_000_000 + self.height as u32;
        let mut header = BitcoinHeader::new(1, self.tip, root, time, REGTEST_BITS, 0);
        let mut nonce = 0;
        while header.hash()[31] >= 0x7f {
            nonce += 1;
            header = header.with_nonce(nonce);
        }
        self.tip = header.hash();
        header
    }

    /// Returns the next block. Its coinbase commits to the witness of the transaction.
    pub(super) fn next_block(&mut self, transaction: &BitcoinTransaction) -> StandInBlock {
        let hashes = [[0; 32], transaction.wtxid()];
        let commitment = sha256d(&[parent(&hashes), [0; 32]].concat());
        let coinbase = BitcoinTransaction {
            version: 1,
            inputs: vec![TransactionInput {
                outpoint: OutPoint { txid: [0; 32], index: u32::MAX },
                script: (self.height as u64).to_be_bytes().to_vec(),
                sequence: u32::MAX,
                witness: Vec::new(),
            }],
            outputs: vec![TransactionOutput { satoshis: 0, script: [&hex!("6a24aa21a9ed")[..], &commitment].concat() }],
            lock_time: 0,
        };
        let ids = [coinbase.txid(), transaction.txid()];
        let header = self.next_header(parent(&ids));
        StandInBlock { header, coinbase, ids, hashes }
    }
}

impl StandInBlock {
    /// Returns the root of the witness tree, wire order.
    pub(super) fn witness_root(&self) -> Digest {
        parent(&self.hashes)
    }

    pub(super) fn coinbase_proof(&self) -> Vec<u8> {
        proof(&self.ids, 0b011)
    }

    pub(super) fn proof(&self, has_witness: bool) -> Vec<u8> {
        proof(if has_witness { &self.hashes } else { &self.ids }, 0b101)
    }
}

fn parent(leaves: &[Digest; 2]) -> Digest {
    sha256d(leaves.as_flattened())
}

/// Returns the partial tree of two leaves. `flags`: for the root and the leaves, lowest bit first.
fn proof(leaves: &[Digest; 2], flags: u8) -> Vec<u8> {
    [&[2, 0, 0, 0, 2], leaves.as_flattened(), &[1, flags]].concat()
}
