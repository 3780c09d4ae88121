//! Block objects.

use crate::json::JsonWriter;
use crate::objects::transaction::{self, MinedPosition};
use crate::options::{ShownRemasc, TransactionForm};
use rhizome_chain::{BlockRecord, PendingBlock};
use rhizome_primitives::{Address, B256, Block, Bytes, EMPTY_ROOT, Header, Transaction, U256};

/// How the transactions of a block are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionList {
    /// Hashes.
    Hashes,
    /// Whole transaction objects.
    Objects,
}

impl TransactionList {
    /// From the `full` flag of the block methods.
    pub fn from_flag(full: bool) -> Self {
        if full { Self::Objects } else { Self::Hashes }
    }
}

/// Data of a block that its encoding does not contain.
struct Knowledge<'a> {
    /// `None` for the pending block.
    hash: Option<B256>,
    size: usize,
    total_difficulty: U256,
    senders: &'a [Address],
}

/// Writes a block of the chain.
pub fn write_mined(json: &mut JsonWriter, record: &BlockRecord, list: TransactionList, form: TransactionForm) {
    let knowledge = Knowledge {
        hash: Some(record.hash),
        size: record.size,
        total_difficulty: record.total_difficulty,
        senders: if list == TransactionList::Objects { record.senders() } else { &[] },
    };
    write(json, &record.block, &knowledge, list, form);
}

/// Writes the pending of the next block.
pub fn write_pending(json: &mut JsonWriter, pending: &PendingBlock, list: TransactionList, form: TransactionForm) {
    let block = shown_draft(pending);
    let knowledge =
        Knowledge { hash: None, size: block.encode().len(), total_difficulty: U256::ZERO, senders: &pending.senders };
    write(json, &block, &knowledge, list, form);
}

fn shown_draft(pending: &PendingBlock) -> Block {
    Block { header: shown_header(pending), ..pending.block.clone() }
}

/// The extra data of a pending is the miner's business and not shown.
fn shown_header(pending: &PendingBlock) -> Header {
    let mut header = pending.block.header.clone();
    header.extra_data = Bytes::new();
    header.forget_hash();
    header
}

/// The hash of a pending as it is shown.
pub fn pending_hash(pending: &PendingBlock) -> B256 {
    shown_header(pending).hash()
}

/// Writes a block of the chain without bloom, with the number of its transactions and the given ones, by index and with four bytes
/// of their input (Otterscan). `None`: without the member `transactions`.
pub(crate) fn write_summary(
    json: &mut JsonWriter,
    record: &BlockRecord,
    transaction_count: u64,
    listed: Option<&[usize]>,
    form: TransactionForm,
) {
    let header = &record.block.header;
    json.begin_object();
    write_identity(json, header, Some(&record.hash), None, None);
    json.key("totalDifficulty").quantity_wide(&record.total_difficulty);
    json.key("extraData").data(&header.extra_data);
    json.key("size").quantity(record.size as u64);
    write_gas_and_time(json, header);
    // Its page of the latest blocks ends without one. Of the fees of Rootstock nothing is burnt.
    json.key("baseFeePerGas").quantity(0);
    json.key("transactionCount").number(transaction_count.cast_signed());
    if let Some(listed) = listed {
        json.key("transactions").begin_array();
        for index in listed {
            let (block_hash, block_number) = (record.hash, record.number());
            let position = MinedPosition { block_hash, block_number, index: *index as u64 };
            if let (Some(mined), Some(sender)) = (record.block.transactions.get(*index), record.senders().get(*index)) {
                let selector = mined.data().get(..4).unwrap_or(mined.data());
                transaction::write_with_input(json, mined, sender, Some(&position), form, selector);
            }
        }
        json.end_array();
    }
    json.key("uncles").begin_array();
    record.block.uncles.iter().for_each(|uncle| json.hash(&uncle.hash()));
    json.end_array();
    write_tail(json, &record.block);
    json.end_object();
}

/// Writes the header of a block of the chain: its object without `size`, `transactions` and `uncles`.
pub fn write_mined_header(json: &mut JsonWriter, record: &BlockRecord) {
    write_header(json, &record.block, Some(&record.hash), &record.total_difficulty);
}

/// Writes the header of the pending of the next block.
pub fn write_pending_header(json: &mut JsonWriter, pending: &PendingBlock) {
    write_header(json, &shown_draft(pending), None, &U256::ZERO);
}

fn write_header(json: &mut JsonWriter, block: &Block, hash: Option<&B256>, total_difficulty: &U256) {
    json.begin_object();
    write_identity(json, &block.header, hash, None, hash.map(|_| &block.header.logs_bloom));
    json.key("totalDifficulty").quantity_wide(total_difficulty);
    json.key("extraData").data(&block.header.extra_data);
    write_gas_and_time(json, &block.header);
    write_tail(json, block);
    json.end_object();
}

/// Writes an uncle of which only the header is known.
pub fn write_uncle_header(json: &mut JsonWriter, header: &Header) {
    let block = Block { header: header.clone(), transactions: Vec::new(), uncles: Vec::new() };
    let knowledge =
        Knowledge { hash: Some(header.hash()), size: block.encode().len(), total_difficulty: U256::ZERO, senders: &[] };
    write(json, &block, &knowledge, TransactionList::Hashes, TransactionForm::DOCUMENT);
}

/// Writes a block that was never mined, with members of the caller at its end.
pub(crate) fn write_simulated(
    json: &mut JsonWriter,
    block: &Block,
    senders: &[Address],
    list: TransactionList,
    form: TransactionForm,
    more: impl FnOnce(&mut JsonWriter),
) {
    let knowledge =
        Knowledge { hash: Some(block.hash()), size: block.encode().len(), total_difficulty: U256::ZERO, senders };
    json.begin_object();
    write_members(json, block, &knowledge, list, form);
    more(json);
    json.end_object();
}

fn write(
    json: &mut JsonWriter,
    block: &Block,
    knowledge: &Knowledge<'_>,
    list: TransactionList,
    form: TransactionForm,
) {
    json.begin_object();
    write_members(json, block, knowledge, list, form);
    json.end_object();
}

fn write_members(
    json: &mut JsonWriter,
    block: &Block,
    knowledge: &Knowledge<'_>,
    list: TransactionList,
    form: TransactionForm,
) {
    let header = &block.header;
    // A block of which nothing is listed has the root of an empty list.
    let is_bare = !block.transactions.is_empty() && listed(block, form).next().is_none();
    let bloom = knowledge.hash.map(|_| &header.logs_bloom);
    write_identity(json, header, knowledge.hash.as_ref(), is_bare.then_some(&EMPTY_ROOT), bloom);
    json.key("totalDifficulty").quantity_wide(&knowledge.total_difficulty);
    json.key("extraData").data(&header.extra_data);
    json.key("size").quantity(knowledge.size as u64);
    write_gas_and_time(json, header);
    write_transactions(json, block, knowledge, list, form);
    json.key("uncles").begin_array();
    for uncle in &block.uncles {
        json.hash(&uncle.hash());
    }
    json.end_array();
    write_tail(json, block);
}

/// The transactions that a block object lists, with their positions in the block.
fn listed(block: &Block, form: TransactionForm) -> impl Iterator<Item = (usize, &Transaction)> {
    let is_listed =
        move |transaction: &Transaction| form.remasc == ShownRemasc::Listed || !transaction.has_remasc_form();
    block.transactions.iter().enumerate().filter(move |(_index, transaction)| is_listed(transaction))
}

/// The members from `number` to `difficulty`. `shown_root` replaces the root of the transactions.
fn write_identity(
    json: &mut JsonWriter,
    header: &Header,
    hash: Option<&B256>,
    shown_root: Option<&B256>,
    bloom: Option<&Bytes>,
) {
    match hash {
        Some(hash) => {
            json.key("number").quantity(header.number);
            json.key("hash").hash(hash);
        }
        None => {
            json.key("number").null();
            json.key("hash").null();
        }
    }
    json.key("parentHash").data(&header.parent_hash);
    // Headers of this chain have neither a mix hash nor a nonce: the members are constant.
    json.key("mixHash").hash(&B256::ZERO);
    match hash {
        Some(_) => json.key("nonce").data(&[0; 8]),
        None => json.key("nonce").null(),
    }
    json.key("sha3Uncles").data(&header.uncles_hash);
    match bloom {
        Some(bloom) => json.key("logsBloom").data(bloom),
        None => json.key("logsBloom").null(),
    }
    match shown_root {
        Some(root) => json.key("transactionsRoot").hash(root),
        None => json.key("transactionsRoot").data(&header.transactions_root),
    }
    json.key("stateRoot").data(&header.state_root);
    json.key("receiptsRoot").data(&header.receipts_root);
    match hash {
        Some(_) => json.key("miner").data(header.coinbase_address().as_slice()),
        None => json.key("miner").null(),
    }
    json.key("difficulty").quantity_wide(&header.difficulty_value());
}

fn write_gas_and_time(json: &mut JsonWriter, header: &Header) {
    json.key("gasLimit").quantity_wide(&header.gas_limit_value());
    json.key("gasUsed").quantity(header.gas_used);
    json.key("timestamp").quantity(header.timestamp);
}

fn write_transactions(
    json: &mut JsonWriter,
    block: &Block,
    knowledge: &Knowledge<'_>,
    list: TransactionList,
    form: TransactionForm,
) {
    json.key("transactions").begin_array();
    match list {
        TransactionList::Hashes => listed(block, form).for_each(|(_index, mined)| json.hash(&mined.hash())),
        TransactionList::Objects => {
            for (index, mined) in listed(block, form) {
                let Some(sender) = knowledge.senders.get(index) else { break };
                let position = knowledge.hash.map(|block_hash| MinedPosition {
                    block_hash,
                    block_number: block.header.number,
                    index: index as u64,
                });
                transaction::write(json, mined, sender, position.as_ref(), form);
            }
        }
    }
    json.end_array();
}

/// Writes the members from `minimumGasPrice` on, which only Rootstock has.
fn write_tail(json: &mut JsonWriter, block: &Block) {
    let header = &block.header;
    match header.minimum_gas_price {
        Some(_) => json.key("minimumGasPrice").quantity_wide(&header.min_gas_price()),
        None => json.key("minimumGasPrice").null(),
    }
    json.key("bitcoinMergedMiningHeader").data(bytes(&header.bitcoin_header));
    json.key("bitcoinMergedMiningCoinbaseTransaction").data(bytes(&header.bitcoin_coinbase));
    json.key("bitcoinMergedMiningMerkleProof").data(bytes(&header.merkle_proof));
    json.key("hashForMergedMining").hash(&committed_hash(header));
    json.key("paidFees").quantity_wide(&header.paid_fees);
    let with_uncles =
        block.uncles.iter().fold(header.difficulty_value(), |sum, uncle| sum.saturating_add(uncle.difficulty_value()));
    json.key("cumulativeDifficulty").quantity_wide(&with_uncles);
    match &header.edges {
        Some(edges) => {
            json.key("rskPteEdges").begin_array();
            edges.iter().for_each(|edge| json.number(i64::from(*edge)));
            json.end_array();
        }
        None => json.key("rskPteEdges").null(),
    }
    match header.base_event.as_ref().filter(|event| !event.is_empty()) {
        Some(event) => json.key("baseEvent").data(event),
        None => json.key("baseEvent").null(),
    }
}

fn bytes(field: &Option<Bytes>) -> &[u8] {
    field.as_ref().map_or(&[], |bytes| bytes.as_ref())
}

/// Returns the hash for merged mining; the block hash for a pending block, which has no proof of work.
fn committed_hash(header: &Header) -> B256 {
    header.hash_for_merged_mining().unwrap_or_else(|_no_work_yet| header.hash())
}
