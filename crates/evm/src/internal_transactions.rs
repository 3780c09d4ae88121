//! Internal transactions: the reference makes one of each call, creation and deletion by a contract. The Bridge stores their
//! hashes (docs/spec/bridge.md, 1.4).
//!
//! A hash covers the hashes of all parent frames and the number of internal transactions before it, so frames are recorded
//! as they start. Hashes are computed only for calls of the Bridge.

use rhizome_primitives::{Address, B256, Bytes, U256, address, keccak256, rlp};

/// Precompiles whose calls are internal transactions.
const NATIVE_CONTRACTS: [Address; 5] = [
    address!("0000000000000000000000000000000001000006"),
    address!("0000000000000000000000000000000001000008"),
    address!("0000000000000000000000000000000001000009"),
    address!("0000000000000000000000000000000001000010"),
    address!("0000000000000000000000000000000001000011"),
];

/// Returns true if a call of the precompile at `address` is an internal transaction.
pub(crate) fn is_native_contract(address: &Address) -> bool {
    NATIVE_CONTRACTS.contains(address)
}

/// A call or creation by a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InternalTransaction {
    /// The calling contract.
    pub(crate) sender: Address,
    /// Nonce of the calling contract before the call.
    pub(crate) nonce: U256,
    /// The account that receives the value; `None` for a creation.
    pub(crate) receiver: Option<Address>,
    /// Value in wei.
    pub(crate) value: U256,
    pub(crate) data: InternalData,
}

/// The data of an internal transaction, which are not those of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InternalData {
    /// A call of a precompile.
    Empty,
    /// A call: the code at this address.
    CodeOf(Address),
    /// A creation: its init code.
    InitCode(Bytes),
}

/// The values that are the same in all internal transactions of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InternalDefaults {
    pub(crate) gas_price: U256,
    /// Gas limit of the block.
    pub(crate) gas_limit: u64,
}

/// A frame in progress, or a frame that has ended since its parent made an internal transaction.
#[derive(Debug, Default)]
struct FrameRecord {
    /// The internal transaction that started the frame and its position; `None` in the first frame.
    cause: Option<(InternalTransaction, u32)>,
    /// Hash of the cause, once it was needed.
    hash: Option<B256>,
    /// Number of internal transactions of the frame and of the calls in it.
    count: u32,
}

/// The frames of a transaction by their depth.
#[derive(Debug, Default)]
pub(crate) struct FrameRecords(Vec<FrameRecord>);

impl FrameRecords {
    /// Starts a transaction.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Counts an internal transaction of the frame at `depth`. Returns its position.
    pub(crate) fn count(&mut self, depth: usize) -> u32 {
        while self.0.len() > depth + 1
            && let Some(ended) = self.0.pop()
        {
            // The reference forgets the internal transactions of init code.
            let is_call = ended.cause.is_some_and(|(cause, _)| cause.receiver.is_some());
            if let Some(parent) = self.0.last_mut().filter(|_| is_call) {
                parent.count = parent.count.saturating_add(ended.count);
            }
        }
        if self.0.len() <= depth {
            self.0.resize_with(depth + 1, FrameRecord::default);
        }
        let Some(frame) = self.0.last_mut() else { return 0 };
        let position = frame.count;
        frame.count = position.saturating_add(1);
        position
    }

    /// Records a frame that the frame at `depth` starts.
    pub(crate) fn enter(&mut self, depth: usize, cause: InternalTransaction) {
        let position = self.count(depth);
        self.0.push(FrameRecord { cause: Some((cause, position)), hash: None, count: 0 });
    }

    /// Returns the hash of an internal transaction of the frame at `depth`, and counts it. `code_at` returns the code of an
    /// account.
    pub(crate) fn hash<E>(
        &mut self,
        depth: usize,
        transaction: &InternalTransaction,
        origin: B256,
        defaults: &InternalDefaults,
        mut code_at: impl FnMut(Address) -> Result<Bytes, E>,
    ) -> Result<B256, E> {
        let position = self.count(depth);
        let mut parent = origin;
        for (level, frame) in self.0.iter_mut().enumerate() {
            let Some((cause, position)) = &frame.cause else { continue };
            parent = match frame.hash {
                Some(hash) => hash,
                None => {
                    let data = match &cause.data {
                        InternalData::Empty => Bytes::new(),
                        InternalData::CodeOf(address) => code_at(*address)?,
                        InternalData::InitCode(code) => code.clone(),
                    };
                    let hash = hash_of(cause, &data, parent, level.saturating_sub(1), *position, defaults);
                    *frame.hash.insert(hash)
                }
            };
        }
        Ok(hash_of(transaction, &[], parent, depth, position, defaults))
    }
}

/// Returns the hash of an internal transaction made at `depth`.
fn hash_of(
    transaction: &InternalTransaction,
    data: &[u8],
    parent: B256,
    depth: usize,
    position: u32,
    defaults: &InternalDefaults,
) -> B256 {
    let note: &[u8] = if transaction.receiver.is_some() { b"call" } else { b"create" };
    let mut items = Vec::with_capacity(256 + data.len());
    put_nonce(&mut items, transaction.nonce);
    rlp::put_bytes(&mut items, parent.as_slice());
    rlp::put_address(&mut items, Some(&transaction.sender));
    rlp::put_address(&mut items, transaction.receiver.as_ref());
    rlp::put_value(&mut items, &transaction.value);
    rlp::put_value(&mut items, &defaults.gas_price);
    rlp::put_bytes(&mut items, &U256::from(defaults.gas_limit).to_be_bytes::<32>());
    rlp::put_bytes(&mut items, data);
    rlp::put_bytes(&mut items, note);
    rlp::put_u64(&mut items, depth as u64);
    rlp::put_u64(&mut items, u64::from(position));
    // Not rejected: that is known only at the end.
    rlp::put_u64(&mut items, 0);
    keccak256(rlp::list(&items))
}

/// Writes a nonce as a signed number: a first bit that is set has a zero byte before it.
fn put_nonce(out: &mut Vec<u8>, nonce: U256) {
    let bytes = nonce.to_be_bytes::<32>();
    let digits = rlp::strip_zeros(&bytes);
    match digits.first() {
        Some(0x80..) => rlp::put_bytes(out, &[&[0], digits].concat()),
        _ => rlp::put_bytes(out, digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockExecutor;
    use crate::fixtures::{NoAncestors, contract, env, rich, signed};
    use crate::state::State;
    use rhizome_bitcoin::partial_tree::PartialTree;
    use rhizome_bitcoin::{
        BitcoinHeader, BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput, display, push_data, sha256d,
    };
    use rhizome_primitives::{BRIDGE, ChainSpec, I256, b256, hex};
    use rhizome_trie::{MemoryNodes, StateReader, Trie};
    use std::convert::Infallible;
    use std::sync::Arc;

    const ORIGIN: B256 = B256::repeat_byte(0x11);
    const DEFAULTS: InternalDefaults =
        InternalDefaults { gas_price: U256::from_limbs([59_240_000, 0, 0, 0]), gas_limit: 6_800_000 };

    fn call(sender: u8, nonce: u64, receiver: Address, value: u64, data: InternalData) -> InternalTransaction {
        let (sender, nonce, value) = (Address::repeat_byte(sender), U256::from(nonce), U256::from(value));
        InternalTransaction { sender, nonce, receiver: Some(receiver), value, data }
    }

    /// The hash of the reference for a call of the Bridge by init code that a called contract runs.
    #[test]
    fn hashes_cover_the_parent_frames() {
        let mut records = FrameRecords::default();
        assert_eq!([records.count(0), records.count(0)], [0, 1]);
        let callee = Address::repeat_byte(2);
        records.enter(0, call(1, 128, callee, 1_000_000_000_000_000_000, InternalData::CodeOf(callee)));
        let creation = InternalTransaction {
            receiver: None,
            ..call(2, 0, callee, 0, InternalData::InitCode(Bytes::from_static(&[0])))
        };
        records.enter(1, creation);
        for position in 0..300 {
            assert_eq!(records.count(2), position);
        }
        let code = |_| Ok::<_, Infallible>(Bytes::from_static(&hex!("6001600255")));
        let hash = records.hash(2, &call(3, 1, BRIDGE, 0, InternalData::Empty), ORIGIN, &DEFAULTS, code).unwrap();
        assert_eq!(hash, b256!("efaabdf7ca09d4e24e38940c685634f25d7ff09a7936d36ce8c81f1cb94151bc"));
    }

    #[test]
    fn calls_count_in_their_parents_and_creations_do_not() {
        let mut records = FrameRecords::default();
        let callee = Address::repeat_byte(2);
        records.enter(0, call(1, 0, callee, 0, InternalData::CodeOf(callee)));
        assert_eq!([records.count(1), records.count(1)], [0, 1]);
        records.enter(1, call(1, 0, callee, 0, InternalData::CodeOf(callee)));
        assert_eq!(records.count(2), 0);
        assert_eq!(records.count(0), 5);
        let creation = InternalTransaction { receiver: None, ..call(1, 0, callee, 0, InternalData::Empty) };
        records.enter(0, creation);
        assert_eq!(records.count(1), 0);
        assert_eq!(records.count(0), 7);
    }

    /// Output script of the genesis federation of regtest.
    const FEDERATION_SCRIPT: [u8; 23] = hex!("a914896ed9f3446d51b5510f7f0b6ef81b2bde55140e87");
    const KEY: [u8; 33] = hex!("0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124");
    const REFUND_TOPIC: B256 = b256!("7a7c29481528ac8c2b2e93aee658fddd4dc15304fa723a5c2b88514557bcc790");
    const HEIGHT: u32 = 5_000;

    /// Returns code that calls an account without data, and then `callee` with its own call data.
    fn forwarder(callee: Address) -> Vec<u8> {
        let empty_call = hex!("6000600060006000600073cccccccccccccccccccccccccccccccccccccccc5af150");
        let head = hex!("36600060003760006000366000600073");
        [&empty_call[..], &head, callee.as_slice(), &hex!("5af100")].concat()
    }

    /// Returns a peg-in that is refunded, since its instructions are malformed.
    fn refunded_peg_in() -> Vec<u8> {
        let outpoint = OutPoint { txid: [7; 32], index: 0 };
        let mut script = Vec::new();
        push_data(&mut script, &[48; 71]);
        push_data(&mut script, &KEY);
        let inputs = vec![TransactionInput { outpoint, script, sequence: u32::MAX, witness: Vec::new() }];
        let output = |satoshis, script: &[u8]| TransactionOutput { satoshis, script: script.to_vec() };
        let outputs = vec![output(5_000_000, &FEDERATION_SCRIPT), output(0, b"\x6a\x04RSKT")];
        BitcoinTransaction { version: 2, inputs, outputs, lock_time: 0 }.serialize()
    }

    fn register(transaction: &[u8]) -> Vec<u8> {
        let word = |number: usize| U256::from(number).to_be_bytes::<32>();
        let padded = |bytes: &[u8]| {
            let mut padded = [&word(bytes.len())[..], bytes].concat();
            padded.resize(padded.len().next_multiple_of(32), 0);
            padded
        };
        let proof = PartialTree::of_first_leaf(&[sha256d(transaction)], 1).encode();
        let (first, second) = (padded(transaction), padded(&proof));
        let head = [word(96), word(HEIGHT as usize), word(96 + first.len())].concat();
        [&hex!("43dc0656")[..], &head, &first, &second].concat()
    }

    /// Returns a state with two consecutive forwarders and a header store that contains the transaction.
    fn world_with_block(outer: Address, inner: Address, transaction: &[u8]) -> Arc<dyn StateReader> {
        let mut trie = Trie::empty(Arc::new(MemoryNodes::default()));
        let mut state = State::new(Arc::new(trie.clone()));
        state.add_balance(rich(), I256::try_from(1_000_000_000_000_u64).unwrap()).unwrap();
        for (address, callee) in [(outer, inner), (inner, BRIDGE)] {
            state.setup_contract(address).unwrap();
            state.save_code(address, forwarder(callee).into()).unwrap();
        }
        state.setup_contract(BRIDGE).unwrap();
        let (mut previous, mut best) = ([9; 32], Vec::new());
        for above in 0..3 {
            let header = BitcoinHeader::new(1, previous, sha256d(transaction), 1_500_000_000, 0x207f_ffff, above);
            best = [&[0; 32][..], &(HEIGHT + above).to_be_bytes(), header.as_bytes()].concat();
            previous = header.hash();
            let key = U256::from_be_bytes(display(previous));
            state.set_storage_bytes(BRIDGE, key, Some(best.clone().into())).unwrap();
        }
        let head = U256::from_be_slice(b"blockStoreChainHead");
        state.set_storage_bytes(BRIDGE, head, Some(best.into())).unwrap();
        trie.apply(&state.into_delta()).unwrap();
        Arc::new(trie)
    }

    #[test]
    fn refunds_name_the_internal_transaction() {
        let (outer, inner) = (contract(1), contract(2));
        let peg_in = refunded_peg_in();
        let transaction = signed(0, Some(outer), &register(&peg_in), 2_000_000, 0);
        let origin = transaction.hash();
        let spec = ChainSpec::regtest();
        let world = world_with_block(outer, inner, &peg_in);
        let mut executor = BlockExecutor::new(&spec, env(1_000), world, &NoAncestors).unwrap();
        executor.execute(&transaction, rich()).unwrap();
        let receipts = executor.finish().unwrap().receipts;
        let refund = receipts[0].logs.iter().find(|log| log.topics[0] == REFUND_TOPIC).unwrap();

        let defaults = InternalDefaults { gas_price: U256::ONE, gas_limit: 6_800_000 };
        let call = |sender, receiver| InternalTransaction {
            sender,
            nonce: U256::ZERO,
            receiver: Some(receiver),
            value: U256::ZERO,
            data: InternalData::Empty,
        };
        let parent = hash_of(&call(outer, inner), &forwarder(BRIDGE), origin, 0, 1, &defaults);
        assert_eq!(refund.topics[1], hash_of(&call(inner, BRIDGE), &[], parent, 1, 1, &defaults));
    }
}
