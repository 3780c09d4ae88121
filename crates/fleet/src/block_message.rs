//! A block as a message of the log: the encoding, compressed, with number and total difficulty as headers.

use std::io;

use async_nats::jetstream::message::PublishMessage;
use async_nats::{HeaderMap, Message};
use rhizome_chain::{LoggedBlock, PreparedBlock};
use rhizome_primitives::{B256, ChainSpec};

use crate::names;

/// Largest encoding of a block, in bytes, and of a message that the server must take. Far above what the gas limit allows.
pub(crate) const MAX_BLOCK_BYTES: usize = 16 << 20;
const LEVEL: i32 = 3;
const NUMBER: &str = "Rhizome-Number";
const DIFFICULTY: &str = "Rhizome-Total-Difficulty";

/// Returns the message of a block.
pub(crate) fn encode(block: &LoggedBlock) -> io::Result<PublishMessage> {
    let payload = zstd::bulk::compress(&block.raw, LEVEL)?;
    Ok(PublishMessage::build()
        .header(NUMBER, block.number.to_string())
        .header(DIFFICULTY, block.total_difficulty.to_string())
        .payload(payload.into()))
}

/// Fault of a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MessageFault {
    #[error("the subject does not end with a block hash")]
    Subject,
    #[error("the payload cannot be decompressed to at most {MAX_BLOCK_BYTES} bytes")]
    Compression,
    #[error("the payload is not a block: {0}")]
    Block(String),
    #[error("the payload is block {found}")]
    OtherBlock { found: B256 },
    #[error("the header {NUMBER} is not {number}")]
    Number { number: u64 },
}

/// Reads a message. Checks that it has the block of its subject.
pub(crate) fn decode(message: &Message, spec: &ChainSpec) -> Result<PreparedBlock, MessageFault> {
    let hash = names::hash_of(&message.subject).ok_or(MessageFault::Subject)?;
    let raw = zstd::bulk::decompress(&message.payload, capacity(&message.payload)?)
        .map_err(|_damaged| MessageFault::Compression)?;
    let block = PreparedBlock::decode(&raw, spec).map_err(|fault| MessageFault::Block(fault.to_string()))?;
    if block.hash() != hash {
        return Err(MessageFault::OtherBlock { found: block.hash() });
    }
    let number = block.block().header.number;
    let claimed = message.headers.as_ref().and_then(|headers: &HeaderMap| headers.get(NUMBER));
    match claimed.is_some_and(|claimed| claimed.as_str() == number.to_string()) {
        true => Ok(block),
        false => Err(MessageFault::Number { number }),
    }
}

/// Returns the size that a payload claims, so that a small message does not take the memory of a large one.
fn capacity(payload: &[u8]) -> Result<usize, MessageFault> {
    let claimed = zstd::zstd_safe::get_frame_content_size(payload).ok().flatten();
    let claimed = claimed.and_then(|size| usize::try_from(size).ok()).ok_or(MessageFault::Compression)?;
    if claimed > MAX_BLOCK_BYTES { Err(MessageFault::Compression) } else { Ok(claimed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::ChainNames;
    use rhizome_primitives::{Block, Header, U256};

    fn logged(spec: &ChainSpec) -> LoggedBlock {
        let block = Block { header: Header::new(1, spec), transactions: Vec::new(), uncles: Vec::new() };
        let prepared = PreparedBlock::new(block);
        let (hash, raw) = (prepared.hash(), prepared.encoding().to_vec().into());
        LoggedBlock { number: 1, hash, raw, total_difficulty: U256::from(3) }
    }

    fn message(block: &LoggedBlock, change: impl FnOnce(&mut Message)) -> Message {
        let subject = ChainNames::new(&B256::ZERO).block(&block.hash);
        let outbound = encode(block).unwrap().outbound_message(subject);
        let mut message = Message {
            subject: outbound.subject,
            reply: None,
            length: outbound.payload.len(),
            payload: outbound.payload,
            headers: outbound.headers,
            status: None,
            description: None,
        };
        change(&mut message);
        message
    }

    #[test]
    fn a_message_is_read_back_and_a_wrong_one_is_named() {
        let spec = ChainSpec::regtest();
        let block = logged(&spec);
        let fault = |change: &dyn Fn(&mut Message)| decode(&message(&block, change), &spec).err().unwrap();
        assert!(decode(&message(&block, |_| ()), &spec).is_ok_and(|read| read.hash() == block.hash));
        let headers = message(&block, |_| ()).headers.unwrap();
        assert_eq!(headers.get(DIFFICULTY).unwrap().as_str(), "3");
        assert!(matches!(fault(&|message| message.subject = "a.b".into()), MessageFault::Subject));
        assert!(matches!(fault(&|message| message.payload = "text".into()), MessageFault::Compression));
        let other = format!("x.{}", "00".repeat(32));
        assert!(matches!(fault(&|message| message.subject = other.as_str().into()), MessageFault::OtherBlock { .. }));
        assert!(matches!(fault(&|message| message.headers = None), MessageFault::Number { number: 1 }));
        let compressed = |bytes: &[u8]| zstd::bulk::compress(bytes, LEVEL).unwrap().into();
        assert!(matches!(fault(&|message| message.payload = compressed(b"text")), MessageFault::Block(_)));
        let large = vec![0; MAX_BLOCK_BYTES + 1];
        assert!(matches!(fault(&|message| message.payload = compressed(&large)), MessageFault::Compression));
    }
}
