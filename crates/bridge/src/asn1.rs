//! ASN.1 as the reference's library reads signatures (docs/spec/bridge.md, 7.8): it parses all elements of the sequence,
//! also unused ones.

use std::slice;

/// Depth from which nested elements are refused.
const MAXIMUM_DEPTH: usize = 64;
const CONSTRUCTED: u8 = 0x20;
const APPLICATION: u8 = 0x40;
const TAGGED: u8 = 0x80;
/// Low bits of a tag whose number follows in further bytes.
const LONG_NUMBER: u8 = 0x1f;
/// Maximum number of bytes of a length in the long form.
const MAXIMUM_LENGTH_SIZE: usize = 4;

/// An element without malformed parts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Element<'a> {
    Integer(&'a [u8]),
    OctetString,
    Sequence(Vec<Element<'a>>),
    Other,
}

/// Returns the first two elements of a sequence if they are integers, in minimal two's complement. The sequence has a definite
/// length, and no element of it is malformed; bytes after it are ignored.
pub(crate) fn leading_integers(bytes: &[u8]) -> Option<[&[u8]; 2]> {
    let Element::Sequence(elements) = Reader::new(bytes, 0).element()? else { return None };
    match elements.as_slice() {
        [Element::Integer(first), Element::Integer(second), ..] => Some([first, second]),
        _ => None,
    }
}

/// The bytes of one level that are not read yet.
struct Reader<'a> {
    rest: slice::Iter<'a, u8>,
    /// Lengths in the long form stay below the size of the level.
    size: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], depth: usize) -> Self {
        Self { rest: bytes.iter(), size: bytes.len(), depth }
    }

    fn byte(&mut self) -> Option<u8> {
        self.rest.next().copied()
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.as_slice().split_at_checked(length)?;
        self.rest = rest.iter();
        Some(taken)
    }

    /// Reads the next element. `None` if it is absent or malformed.
    fn element(&mut self) -> Option<Element<'a>> {
        let tag = self.byte().filter(|tag| *tag != 0)?;
        let number = self.number(tag)?;
        let is_constructed = tag & CONSTRUCTED != 0;
        let Some(length) = self.length()? else { return self.endless(is_constructed) };
        if tag & APPLICATION != 0 || tag & TAGGED != 0 && !is_constructed {
            return self.bytes(length).map(|_content| Element::Other);
        }
        if is_constructed {
            let elements = self.elements(length)?;
            let is_text = || elements.iter().all(|element| *element == Element::OctetString);
            return match number {
                _ if tag & TAGGED != 0 => Some(Element::Other),
                4 => is_text().then_some(Element::OctetString),
                16 => Some(Element::Sequence(elements)),
                17 => Some(Element::Other),
                _ => None,
            };
        }
        self.primitive(number, length)
    }

    fn number(&mut self, tag: u8) -> Option<u32> {
        if tag & LONG_NUMBER != LONG_NUMBER {
            return Some(u32::from(tag & LONG_NUMBER));
        }
        let mut byte = self.byte().filter(|byte| byte & 0x7f != 0)?;
        let mut number = 0;
        while byte & 0x80 != 0 {
            number = (number | u32::from(byte & 0x7f)) << 7;
            byte = self.byte()?;
        }
        Some(number | u32::from(byte & 0x7f))
    }

    /// Reads a length; `Some(None)` for the indefinite form.
    fn length(&mut self) -> Option<Option<usize>> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(Some(usize::from(first)));
        }
        let size = usize::from(first & 0x7f);
        if size == 0 {
            return Some(None);
        }
        let bytes = (size <= MAXIMUM_LENGTH_SIZE).then(|| self.bytes(size))??;
        let length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        (length < self.size).then_some(Some(length))
    }

    fn elements(&mut self, length: usize) -> Option<Vec<Element<'a>>> {
        let content = self.bytes(length)?;
        if self.depth == MAXIMUM_DEPTH {
            return None;
        }
        let mut inner = Reader::new(content, self.depth + 1);
        let mut elements = Vec::new();
        while !inner.rest.as_slice().is_empty() {
            elements.push(inner.element()?);
        }
        Some(elements)
    }

    /// Reads elements up to two zeros.
    fn endless(&mut self, is_constructed: bool) -> Option<Element<'a>> {
        if !is_constructed || self.depth == MAXIMUM_DEPTH {
            return None;
        }
        self.depth += 1;
        while !self.rest.as_slice().starts_with(&[0, 0]) {
            self.element()?;
        }
        self.depth -= 1;
        self.bytes(2).map(|_end| Element::Other)
    }

    fn primitive(&mut self, number: u32, length: usize) -> Option<Element<'a>> {
        // The content of a null element is left to the next element, and so is the last byte of an odd number in UTF-16.
        let taken = match number {
            5 => 0,
            30 => length & !1,
            _ => length,
        };
        let content = self.bytes(taken)?;
        match number {
            1 => (content.len() == 1).then_some(Element::Other),
            2 => is_minimal(content).then_some(Element::Integer(content)),
            3 => {
                let (unused, bits) = content.split_first()?;
                (*unused == 0 || *unused < 8 && !bits.is_empty()).then_some(Element::Other)
            }
            4 => Some(Element::OctetString),
            10 => (!content.is_empty() && is_minimal(content)).then_some(Element::Other),
            5 | 6 | 12 | 18..=28 | 30 => Some(Element::Other),
            _ => None,
        }
    }
}

fn is_minimal(integer: &[u8]) -> bool {
    match integer {
        [first, second, ..] => !matches!((first, second & 0x80), (0, 0) | (0xff, 0x80)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(extra: &[u8]) -> bool {
        let content = [&[2, 1, 5, 2, 1, 7][..], extra].concat();
        let bytes = [&[0x30, content.len() as u8][..], &content].concat();
        let integers = leading_integers(&bytes);
        assert!(integers.is_none_or(|integers| integers == [&[5], &[7]]));
        integers.is_some()
    }

    /// Verdicts of the reference.
    #[test]
    fn further_elements_must_be_well_formed() {
        let good: [&[u8]; 24] = [
            &[],
            &[5, 0],
            &[4, 1, 0],
            &[0x30, 3, 2, 1, 1],
            &[0x30, 0],
            &[0x1f, 2, 1, 1],
            &[0x41, 1, 0],
            &[0x41, 0],
            &[0x61, 2, 5, 0],
            &[0x80, 1, 0],
            &[0xa0, 3, 2, 1, 1],
            &[2, 0],
            &[1, 1, 0xff],
            &[3, 1, 0],
            &[3, 2, 0, 1],
            &[6, 0],
            &[6, 2, 0xff, 1],
            &[10, 1, 1],
            &[0x24, 3, 4, 1, 0],
            &[0x30, 0x80, 0, 0],
            &[30, 2, 0, 0x41],
            &[24, 1, 0x41],
            &[0xfe, 1, 0],
            &[12, 1, 0xff],
        ];
        for extra in good {
            assert!(with(extra), "{extra:?}");
        }
        let bad: [&[u8]; 21] = [
            &[0xff],
            &[0],
            &[5, 1, 0],
            &[5, 2, 1, 1],
            &[15, 1, 0],
            &[0xa0, 1, 0xff],
            &[2, 5, 1, 1],
            &[2, 2, 0, 1],
            &[1, 2, 0, 0],
            &[1, 0],
            &[3, 0],
            &[3, 1, 15],
            &[3, 2, 0xff, 1],
            &[10, 0],
            &[0x24, 3, 2, 1, 1],
            &[0x30, 0x80, 0],
            &[30, 1, 0],
            &[0x1f, 0x1f, 1, 0],
            &[0x22, 1, 1],
            &[0x1f, 0],
            &[2, 0x85, 0, 0, 0, 0, 1, 1],
        ];
        for extra in bad {
            assert!(!with(extra), "{extra:?}");
        }
    }

    #[test]
    fn sequences_have_definite_lengths() {
        for bytes in [
            &[0x3f, 0x10, 6, 2, 1, 1, 2, 1, 1][..],
            &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 1],
            &[0x30, 7, 2, 0x81, 1, 1, 2, 1, 1],
        ] {
            assert_eq!(leading_integers(bytes), Some([&[1][..], &[1]]));
        }
        for bytes in [
            &[][..],
            &[0x3f, 0, 0x10, 6, 2, 1, 1, 2, 1, 1],
            &[0x3f, 0x81, 0x10, 6, 2, 1, 1, 2, 1, 1],
            &[0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0],
            &[0x70, 6, 2, 1, 1, 2, 1, 1],
            &[0x31, 6, 2, 1, 1, 2, 1, 1],
            &[0x10, 6, 2, 1, 1, 2, 1, 1],
            &[0x30, 3, 2, 1, 1],
            &[0x30, 6, 4, 1, 1, 2, 1, 1],
        ] {
            assert_eq!(leading_integers(bytes), None, "{bytes:?}");
        }
        let deep = [0x30; 3000];
        assert_eq!(leading_integers(&deep), None);
    }
}
