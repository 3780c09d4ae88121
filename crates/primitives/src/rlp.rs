//! RLP as Rootstock uses it (docs/spec/blocks.md, 1): a lenient reader, which determines acceptance, and one writer
//! for each kind of scalar, which determine hashes.

mod number;
mod reader;
mod writer;

pub use number::{read_difficulty, read_signed, read_u64, read_u256, saturating_u256};
pub use reader::{Elements, Item, decode_all, decode_list};
pub use writer::{
    bytes_length, list, put_address, put_byte, put_bytes, put_difficulty, put_edges, put_list, put_list_header,
    put_minimum_gas_price, put_price, put_u64, put_unsigned, put_value, signed_bytes, strip_zeros, u64_length,
    with_header,
};
