//! Sizes of transactions by arithmetic, without serialization (docs/spec/bridge.md, 7.2 and 7.5.5).

use rhizome_bitcoin::varint::varint_size;

/// Minimum fee per 1000 bytes, in satoshis.
pub(crate) const MINIMUM_FEE_PER_KB: i64 = 5000;
/// Size of an input without script: outpoint, empty script, sequence.
const INPUT_SIZE: usize = 36 + 1 + 4;
/// Size of the script of an input that spends a P2SH-P2WSH output.
const SEGWIT_SCRIPT_SIZE: usize = 36;
/// Size of an input that spends an output, as the dust rule assumes.
const SPENDING_SIZE: usize = 148;

/// Returns the size of a transaction with empty input scripts and outputs with scripts of these lengths.
pub(crate) fn unsigned_size(inputs: usize, output_scripts: impl ExactSizeIterator<Item = usize>) -> usize {
    let head = 4 + varint_size(inputs) + varint_size(output_scripts.len());
    head + INPUT_SIZE * inputs + output_scripts.map(output_size).sum::<usize>() + 4
}

/// Adds the sizes of input scripts to the size of a transaction with empty ones.
pub(crate) fn with_script_sizes(unsigned: usize, scripts: impl Iterator<Item = usize>) -> usize {
    unsigned + scripts.map(|length| varint_size(length) - 1 + length).sum::<usize>()
}

/// Returns the virtual size of a transaction with `signing` bytes in witnesses.
pub(crate) fn weighted_size(unsigned: usize, inputs: usize, signing: usize) -> usize {
    let base = unsigned + SEGWIT_SCRIPT_SIZE * inputs;
    (4 * base + signing) / 4
}

fn output_size(script: usize) -> usize {
    8 + varint_size(script) + script
}

/// Returns the lowest value that is no dust, in satoshis, of an output with a script of this length.
pub(crate) fn minimum_output(script: usize) -> i64 {
    3 * MINIMUM_FEE_PER_KB * (output_size(script) + SPENDING_SIZE) as i64 / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dust_depends_on_the_script() {
        assert_eq!((minimum_output(25), minimum_output(23)), (2730, 2700));
    }

    #[test]
    fn sizes_are_those_of_the_serialization() {
        use rhizome_bitcoin::{BitcoinTransaction, OutPoint, TransactionInput, TransactionOutput};
        for (inputs, outputs, script) in [(1, 1, 0), (252, 3, 252), (253, 253, 300), (1, 1, 70_000)] {
            let outpoint = OutPoint { txid: [1; 32], index: 0 };
            let input = TransactionInput { outpoint, script: vec![0; script], sequence: 0, witness: vec![] };
            let transaction = BitcoinTransaction {
                version: 2,
                inputs: vec![input; inputs],
                outputs: vec![TransactionOutput { satoshis: 1, script: vec![0; 25] }; outputs],
                lock_time: 0,
            };
            let unsigned = unsigned_size(inputs, std::iter::repeat_n(25, outputs));
            let size = with_script_sizes(unsigned, std::iter::repeat_n(script, inputs));
            assert_eq!(size, transaction.serialize().len());
        }
    }
}
