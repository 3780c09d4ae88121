//! Lines that contracts print by the `console.sol` of Hardhat and of Foundry: calls to an address without code.

use super::call_tree::{CallTree, Deed};
use crate::json::JsonWriter;
use rhizome_primitives::{Address, I256, U256, address, hex, keccak256};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The called address: "console.log" in ASCII.
const CONSOLE: Address = address!("000000000000000000636f6e736f6c652e6c6f67");
/// Most lines of a transaction.
const MAX_LINES: usize = 1000;
/// Most bytes of a text in a line.
const MAX_TEXT: usize = 2048;

/// Type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentKind {
    Text,
    Unsigned,
    Signed,
    Bool,
    Address,
    Bytes,
    FixedBytes(usize),
}

/// Kinds that all combinations of up to four arguments have, with their names. Old versions of Hardhat hashed `uint`.
const MIXED: [(ArgumentKind, &str); 5] = [
    (ArgumentKind::Text, "string"),
    (ArgumentKind::Unsigned, "uint256"),
    (ArgumentKind::Unsigned, "uint"),
    (ArgumentKind::Bool, "bool"),
    (ArgumentKind::Address, "address"),
];

/// Arguments by the selector of each `log`.
static SIGNATURES: LazyLock<HashMap<[u8; 4], Vec<ArgumentKind>>> = LazyLock::new(|| {
    let mut signatures = HashMap::new();
    let mut add = |names: &[&str], kinds: &[ArgumentKind]| {
        let [a, b, c, d, ..] = keccak256(format!("log({})", names.join(","))).0;
        signatures.insert([a, b, c, d], kinds.to_vec());
    };
    let mut lists: Vec<(Vec<&str>, Vec<ArgumentKind>)> = vec![(Vec::new(), Vec::new())];
    for count in 0..=4 {
        lists.iter().for_each(|(names, kinds)| add(names, kinds));
        if count < 4 {
            lists = lists.iter().flat_map(longer).collect();
        }
    }
    for name in ["int256", "int"] {
        add(&[name], &[ArgumentKind::Signed]);
    }
    add(&["bytes"], &[ArgumentKind::Bytes]);
    for length in 1..=32 {
        add(&[&format!("bytes{length}")], &[ArgumentKind::FixedBytes(length)]);
    }
    signatures
});

/// Returns a list of arguments with each possible further one.
fn longer(list: &(Vec<&'static str>, Vec<ArgumentKind>)) -> Vec<(Vec<&'static str>, Vec<ArgumentKind>)> {
    let with = |(kind, name): (ArgumentKind, &'static str)| {
        let (mut names, mut kinds) = list.clone();
        names.push(name);
        kinds.push(kind);
        (names, kinds)
    };
    MIXED.into_iter().map(with).collect()
}

/// Writes the member `console` with the lines of a transaction, in order; nothing if there are none. Lines of reverted calls are
/// among them.
pub(super) fn write(json: &mut JsonWriter, tree: &CallTree) {
    let calls = tree
        .nodes
        .iter()
        .filter(|node| node.to == CONSOLE && matches!(node.deed, Deed::Call(kind) if !kind.is_creation()));
    let mut lines = calls.filter_map(|node| line(&node.input)).peekable();
    if lines.peek().is_none() {
        return;
    }
    json.key("console").begin_array();
    lines.by_ref().take(MAX_LINES).for_each(|line| json.text(&line));
    let left = lines.count();
    if left > 0 {
        json.text(&format!("... and {left} more lines"));
    }
    json.end_array();
}

/// Returns the line of a call; `None` if its data are no `log`.
fn line(input: &[u8]) -> Option<String> {
    let (selector, arguments) = input.split_first_chunk::<4>()?;
    let kinds = SIGNATURES.get(selector)?;
    let texts: Vec<String> =
        kinds.iter().enumerate().map(|(at, kind)| text(arguments, 32 * at, *kind)).collect::<Option<_>>()?;
    Some(match (kinds.first(), texts.split_first()) {
        (Some(ArgumentKind::Text), Some((format, rest))) => formatted(format, rest),
        _ => texts.join(" "),
    })
}

/// Puts arguments in place of `%s`, `%d`, `%i`, `%o` and `%x`, as the consoles do; further arguments follow.
fn formatted(format: &str, arguments: &[String]) -> String {
    let mut arguments = arguments.iter();
    let mut line = String::new();
    let mut rest = format;
    while let Some((before, from)) = rest.split_once('%') {
        line.push_str(before);
        let mut after = from.chars();
        match after.next() {
            Some('s' | 'd' | 'i' | 'o' | 'x') if !arguments.as_slice().is_empty() => {
                arguments.next().into_iter().for_each(|argument| line.push_str(argument));
                rest = after.as_str();
            }
            Some('%') => {
                line.push('%');
                rest = after.as_str();
            }
            _ => {
                line.push('%');
                rest = from;
            }
        }
    }
    line.push_str(rest);
    for argument in arguments {
        line.push(' ');
        line.push_str(argument);
    }
    line
}

/// Returns the argument whose word is at an offset.
fn text(arguments: &[u8], at: usize, kind: ArgumentKind) -> Option<String> {
    let word = word(arguments, at)?;
    Some(match kind {
        ArgumentKind::Unsigned => word.to_string(),
        ArgumentKind::Signed => I256::from_raw(word).to_string(),
        ArgumentKind::Bool => (!word.is_zero()).to_string(),
        ArgumentKind::Address => format!("0x{}", hex::encode(word.to_be_bytes::<32>().get(12..)?)),
        ArgumentKind::FixedBytes(length) => format!("0x{}", hex::encode(word.to_be_bytes::<32>().get(..length)?)),
        ArgumentKind::Text => {
            let bytes = sized(arguments, word)?;
            cut(&String::from_utf8_lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes)), bytes.len() > MAX_TEXT)
        }
        ArgumentKind::Bytes => {
            let bytes = sized(arguments, word)?;
            cut(&format!("0x{}", hex::encode(bytes.get(..MAX_TEXT).unwrap_or(bytes))), bytes.len() > MAX_TEXT)
        }
    })
}

fn cut(text: &str, is_cut: bool) -> String {
    format!("{text}{}", if is_cut { "..." } else { "" })
}

fn word(arguments: &[u8], at: usize) -> Option<U256> {
    arguments.get(at..at.checked_add(32)?).map(U256::from_be_slice)
}

/// Returns the bytes behind their length at an offset.
fn sized(arguments: &[u8], offset: U256) -> Option<&[u8]> {
    let offset = usize::try_from(offset).ok()?;
    let length = usize::try_from(word(arguments, offset)?).ok()?;
    let start = offset.checked_add(32)?;
    arguments.get(start..start.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(signature: &str, words: &[&str]) -> Vec<u8> {
        let words = words.iter().map(|word| format!("{word:0>64}")).collect::<String>();
        [&keccak256(signature)[..4], &hex::decode(words).unwrap()].concat()
    }

    fn printed(signature: &str, words: &[&str]) -> String {
        line(&call(signature, words)).unwrap()
    }

    /// `text` as a word.
    fn left(text: &str) -> String {
        format!("{:0<64}", hex::encode(text))
    }

    #[test]
    fn decodes_every_type() {
        // Selectors as both consoles have them.
        assert_eq!(&call("log(string)", &[])[..], hex!("41304fac"));
        assert_eq!(&call("log(uint256)", &[])[..], hex!("f82c50f1"));
        assert_eq!(printed("log()", &[]), "");
        assert_eq!(printed("log(string)", &["20", "5", &left("hello")]), "hello");
        assert_eq!(printed("log(uint256)", &["2a"]), "42");
        assert_eq!(printed("log(uint)", &["2a"]), "42");
        assert_eq!(printed("log(int256)", &[&"f".repeat(64)]), "-1");
        assert_eq!(printed("log(bytes2)", &[&left("ab")]), "0x6162");
        assert_eq!(printed("log(bytes)", &["20", "2", &left("ab")]), "0x6162");
        let address = "cd2a3d9f938e13cd947ec05abc7fe734df8dd826";
        assert_eq!(
            printed("log(address,bool,uint256,uint256)", &[address, "1", "7", "8"]),
            format!("0x{address} true 7 8")
        );
        let mixed =
            printed("log(string,uint256,string,bool)", &["80", "9", "c0", "0", "1", &left("a"), "1", &left("b")]);
        assert_eq!(mixed, "a 9 b false");
    }

    #[test]
    fn fills_placeholders() {
        let arguments = ["1".to_owned(), "two".to_owned()];
        assert_eq!(formatted("a %d of %s", &arguments), "a 1 of two");
        assert_eq!(formatted("%d", &arguments), "1 two");
        assert_eq!(formatted("100%% %s %s %s %", &arguments), "100% 1 two %s %");
    }

    #[test]
    fn ignores_other_data() {
        assert_eq!(line(&[]), None);
        assert_eq!(line(&call("transfer(address,uint256)", &["1", "2"])), None);
        assert_eq!(line(&call("log(uint256)", &[])), None, "the argument is missing");
        for far in [&"f".repeat(64)[..], "40", "ffffffffffffffe0"] {
            assert_eq!(line(&call("log(string)", &[far, "ffffffff"])), None, "{far}");
        }
        let long = [&call("log(string)", &["20", "fff"])[..], &[b'x'; 0xfff]].concat();
        assert_eq!(line(&long).unwrap().len(), MAX_TEXT + 3);
    }
}
