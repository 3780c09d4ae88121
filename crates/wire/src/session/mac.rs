//! Running MAC of one direction of a connection (docs/spec/p2p.md, 3.5 and 4).

use aes::Aes256;
use aes::cipher::{Block, BlockEncrypt, KeyInit};
use rhizome_primitives::Keccak256;

/// Length of the MAC of a header or a body.
pub(super) const MAC_LENGTH: usize = 16;

/// Keccak state over everything sent in one direction, mixed with a block cipher.
#[derive(Clone)]
pub(super) struct RunningMac {
    cipher: Aes256,
    state: Keccak256,
}

impl RunningMac {
    /// Starts the state with the nonce of the receiving side and the handshake packet of the sending side.
    pub(super) fn new(key: &[u8; 32], nonce: &[u8; 32], packet: &[u8]) -> RunningMac {
        let mut state = Keccak256::new();
        let mut masked = *key;
        for (byte, mask) in masked.iter_mut().zip(nonce) {
            *byte ^= mask;
        }
        state.update(masked);
        state.update(packet);
        RunningMac { cipher: Aes256::new(key.into()), state }
    }

    /// Adds an encrypted header and returns its MAC.
    pub(super) fn header(&mut self, encrypted: &[u8; MAC_LENGTH]) -> [u8; MAC_LENGTH] {
        self.mix(encrypted)
    }

    /// Adds a part of an encrypted body.
    pub(super) fn update(&mut self, encrypted: &[u8]) {
        self.state.update(encrypted);
    }

    /// Returns the MAC of the body added since the last header.
    pub(super) fn body(&mut self) -> [u8; MAC_LENGTH] {
        let seed = self.digest();
        self.mix(&seed)
    }

    fn mix(&mut self, seed: &[u8; MAC_LENGTH]) -> [u8; MAC_LENGTH] {
        let mut block = Block::<Aes256>::from(self.digest());
        self.cipher.encrypt_block(&mut block);
        for (byte, mask) in block.iter_mut().zip(seed) {
            *byte ^= mask;
        }
        self.state.update(block);
        self.digest()
    }

    /// Returns the first half of the hash of all bytes so far.
    fn digest(&self) -> [u8; MAC_LENGTH] {
        let hash = self.state.clone().finalize();
        let mut half = [0; MAC_LENGTH];
        half.copy_from_slice(&hash[..MAC_LENGTH]);
        half
    }
}

/// Compares two MACs in constant time.
pub(super) fn is_same_mac(left: &[u8; MAC_LENGTH], right: &[u8; MAC_LENGTH]) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
