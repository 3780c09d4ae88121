//! The lenient reader (docs/spec/blocks.md, 1.2). Encodings need not be canonical: single bytes and short strings can
//! use longer forms, lengths can have leading zeros, and lengths of more than four bytes wrap modulo 2^32.

use crate::error::DecodeError;

/// RLP item in borrowed data. Cheap to copy; the content of a list is read on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<'a> {
    encoding: &'a [u8],
    content_start: usize,
    is_list: bool,
}

impl<'a> Item<'a> {
    /// Reads the first item of `data` and returns it with the rest.
    pub fn first(data: &'a [u8]) -> Result<(Item<'a>, &'a [u8]), DecodeError> {
        let (&mark, after) = data.split_first().ok_or(DecodeError::MissingItem)?;
        let (content_start, length, is_list) = match mark {
            0..=0x7f => (0, 1, false),
            0x80..=0xb7 => (1, usize::from(mark - 0x80), false),
            0xb8..=0xbf => (usize::from(mark - 0xb7) + 1, long_length(after, usize::from(mark - 0xb7))?, false),
            0xc0..=0xf7 => (1, usize::from(mark - 0xc0), true),
            0xf8..=0xff => (usize::from(mark - 0xf7) + 1, long_length(after, usize::from(mark - 0xf7))?, true),
        };
        let available = data.len().saturating_sub(content_start);
        if length > available {
            return Err(DecodeError::OutOfBounds { length, available });
        }
        let (encoding, rest) = data.split_at(content_start + length);
        Ok((Item { encoding, content_start, is_list }, rest))
    }

    /// Returns true if the item is a list.
    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns the item with its header, as received.
    pub fn encoding(&self) -> &'a [u8] {
        self.encoding
    }

    /// Returns the content behind the header: the string, or the concatenated elements of the list.
    pub fn content(&self) -> &'a [u8] {
        self.encoding.get(self.content_start..).unwrap_or_default()
    }

    /// Returns the item as a string: the content of a string, or the complete encoding of a list.
    pub fn bytes(&self) -> &'a [u8] {
        if self.is_list { self.encoding } else { self.content() }
    }

    /// Iterates over the elements of a list, reading them one by one; `what` names the object in the error if the item
    /// is a string.
    pub fn elements(&self, what: &'static str) -> Result<Elements<'a>, DecodeError> {
        if self.is_list { Ok(Elements { rest: self.content() }) } else { Err(DecodeError::ExpectedList(what)) }
    }

    /// Returns the elements of a list that must have `N` of them.
    pub fn exactly<const N: usize>(&self, what: &'static str) -> Result<[Item<'a>; N], DecodeError> {
        let mut found = [Item { encoding: &[], content_start: 0, is_list: false }; N];
        let mut got = 0;
        for element in self.elements(what)? {
            let element = element?;
            if let Some(target) = found.get_mut(got) {
                *target = element;
            }
            got += 1;
        }
        if got == N { Ok(found) } else { Err(DecodeError::ElementCount { what, got }) }
    }

    /// Reads all elements of a list.
    pub fn list(&self, what: &'static str) -> Result<Vec<Item<'a>>, DecodeError> {
        self.elements(what)?.collect()
    }
}

/// Iterator over the elements of a list; ends after the first error.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Item<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        match Item::first(self.rest) {
            Ok((item, rest)) => {
                self.rest = rest;
                Some(Ok(item))
            }
            Err(error) => {
                self.rest = &[];
                Some(Err(error))
            }
        }
    }
}

/// Reads a sequence of items up to the end of `data`, which can be empty.
pub fn decode_all(data: &[u8]) -> Result<Vec<Item<'_>>, DecodeError> {
    Elements { rest: data }.collect()
}

/// Reads exactly one list (blocks, transactions, wire messages).
pub fn decode_list(data: &[u8]) -> Result<Item<'_>, DecodeError> {
    let (item, rest) = Item::first(data)?;
    if rest.is_empty() && item.is_list { Ok(item) } else { Err(DecodeError::NotOneList) }
}

/// Reads a length of `size` (1 to 8) big-endian bytes in 32-bit arithmetic, like the reference: higher bytes are
/// dropped.
fn long_length(after_mark: &[u8], size: usize) -> Result<usize, DecodeError> {
    let digits =
        after_mark.get(..size).ok_or(DecodeError::OutOfBounds { length: size, available: after_mark.len() })?;
    let length = digits.iter().fold(0u32, |length, &digit| (length << 8) | u32::from(digit));
    if length > i32::MAX as u32 { Err(DecodeError::NegativeLength(length)) } else { Ok(length as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    #[test]
    fn lengths_wrap_modulo_32_bits() {
        let data = hex!("bf0100000000000001aa");
        let (item, rest) = Item::first(&data).unwrap();
        assert_eq!((item.bytes(), rest.len()), (&[0xaa][..], 0));
        assert_eq!(Item::first(&hex!("bb80000000")), Err(DecodeError::NegativeLength(0x8000_0000)));
    }

    #[test]
    fn a_list_as_a_string_is_its_encoding() {
        let data = hex!("c20102");
        let item = decode_list(&data).unwrap();
        assert_eq!(item.bytes(), data);
        assert_eq!(item.content(), &data[1..]);
    }

    #[test]
    fn exactly_requires_the_number_of_elements() {
        let data = hex!("c401c20203");
        let item = decode_list(&data).unwrap();
        assert_eq!(item.exactly::<2>("pair").unwrap().to_vec(), item.list("pair").unwrap());
        assert_eq!(item.exactly::<1>("pair"), Err(DecodeError::ElementCount { what: "pair", got: 2 }));
        assert_eq!(item.exactly::<3>("pair"), Err(DecodeError::ElementCount { what: "pair", got: 2 }));
        // Malformed elements are reported first, regardless of their position.
        let broken = hex!("c301b901");
        let error = DecodeError::OutOfBounds { length: 2, available: 1 };
        assert_eq!(decode_list(&broken).unwrap().exactly::<1>("pair"), Err(error));
        assert_eq!(decode_all(&[1]).unwrap()[0].exactly::<1>("pair"), Err(DecodeError::ExpectedList("pair")));
    }

    #[test]
    fn the_content_of_a_list_is_read_on_demand() {
        let data = hex!("c2b901");
        let item = decode_list(&data).unwrap();
        assert_eq!(item.list("list"), Err(DecodeError::OutOfBounds { length: 2, available: 1 }));
    }

    #[test]
    fn trailing_bytes_and_strings_are_rejected() {
        assert_eq!(decode_list(&hex!("c0c0")), Err(DecodeError::NotOneList));
        assert_eq!(decode_list(&hex!("80")), Err(DecodeError::NotOneList));
        assert_eq!(decode_list(&[]), Err(DecodeError::MissingItem));
        assert!(decode_list(&hex!("f800")).is_ok());
    }
}
