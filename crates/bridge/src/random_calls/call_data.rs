//! ABI encoding of arguments.

use rhizome_primitives::{U256, keccak256};

/// An argument of a call.
#[derive(Clone)]
pub(super) enum CallArgument {
    Word([u8; 32]),
    Bytes(Vec<u8>),
    List(Vec<Vec<u8>>),
    /// A list of this length; all offsets point to the same element.
    Repeated(usize, Vec<u8>),
    Words(Vec<[u8; 32]>),
}

impl CallArgument {
    pub(super) fn number(number: usize) -> Self {
        Self::Word(word(number))
    }

    pub(super) fn bytes(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

fn word(number: usize) -> [u8; 32] {
    U256::from(number).to_be_bytes()
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = [&word(bytes.len())[..], bytes].concat();
    encoded.resize(encoded.len().next_multiple_of(32), 0);
    encoded
}

/// Returns the data of a call. `signature`: name and types of the method.
pub(super) fn call_data(signature: &str, arguments: &[CallArgument]) -> Vec<u8> {
    [&keccak256(signature)[..4], &encode(arguments)].concat()
}

/// Returns the encoding of arguments.
pub(super) fn encode(arguments: &[CallArgument]) -> Vec<u8> {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    for argument in arguments {
        let start = word(32 * arguments.len() + tail.len());
        match argument {
            CallArgument::Word(word) => head.extend(word),
            CallArgument::Bytes(bytes) => {
                head.extend(start);
                tail.extend(sized(bytes));
            }
            CallArgument::List(list) => {
                head.extend(start);
                tail.extend(word(list.len()));
                let (mut offset, mut elements) = (32 * list.len(), Vec::new());
                for bytes in list {
                    tail.extend(word(offset));
                    let element = sized(bytes);
                    offset += element.len();
                    elements.extend(element);
                }
                tail.extend(elements);
            }
            CallArgument::Repeated(count, element) => {
                head.extend(start);
                tail.extend(word(*count));
                (0..*count).for_each(|_| tail.extend(word(32 * count)));
                tail.extend(sized(element));
            }
            CallArgument::Words(words) => {
                head.extend(start);
                tail.extend(word(words.len()));
                tail.extend(words.as_flattened());
            }
        }
    }
    [head, tail].concat()
}
