//! The extension of a header that was received in compressed form: bloom, edges and base event, which come with the body
//! (docs/spec/blocks.md, 4.4 and 4.10).

use super::Header;
use super::decode::read_edges;
use crate::error::{DecodeError, ExtensionError};
use crate::rlp::{self, Item};
use alloy_primitives::Bytes;

/// See [`Header::attach_extension`].
pub(super) fn attach_extension(header: &mut Header, extension: Option<&Item<'_>>) -> Result<(), ExtensionError> {
    let (received, extension) = match (&header.received_extension_data, extension) {
        (None, None) => return Ok(()),
        (None, Some(_)) => return Err(ExtensionError::Unexpected),
        (Some(_), None) => return Err(ExtensionError::Missing),
        (Some(received), Some(extension)) => (received, extension),
    };
    let [version, content] = extension.exactly("extension")?;
    let mut complete = header.clone();
    complete.received_extension_data = None;
    let mut fields = rlp::decode_list(content.bytes())?.elements("extension content")?;
    let mut next = || fields.next().transpose();
    let bloom = next()?.ok_or(DecodeError::Missing("logs bloom"))?;
    complete.logs_bloom = Bytes::copy_from_slice(bloom.bytes());
    if header.version == 2 {
        let base_event = next()?.ok_or(DecodeError::Missing("base event"))?;
        complete.base_event = Some(Bytes::copy_from_slice(base_event.bytes()));
    }
    complete.edges = next()?.map(|edges| read_edges(edges.bytes()));
    if version.bytes() != [header.version] || complete.extension_data().as_deref() != Some(received.as_ref()) {
        return Err(ExtensionError::Mismatch);
    }
    *header = complete;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain_spec::ChainSpec;

    fn compressed(number: u64) -> (Header, Header) {
        let spec = ChainSpec::testnet();
        let mut header = Header::new(number, &spec);
        header.logs_bloom = Bytes::from(vec![7; 256]);
        header.edges = Some(vec![3, 6]);
        let encoded = header.encode_compressed();
        let read = Header::from_compressed_item(&rlp::decode_list(&encoded).unwrap(), &spec).unwrap();
        assert_eq!(read.encode_compressed(), encoded);
        (header, read)
    }

    #[test]
    fn an_extension_completes_a_compressed_header() {
        for (number, version) in [(7_200_000, 1), (7_700_000, 2)] {
            let (header, mut read) = compressed(number);
            assert_eq!((read.version, read.lacks_extension(), read.hash()), (version, true, header.hash()));
            let extension = header.extension_wire().unwrap();
            assert_eq!(read.attach_extension(None), Err(ExtensionError::Missing));
            let item = rlp::decode_list(&extension).unwrap();
            read.attach_extension(Some(&item)).unwrap();
            assert_eq!((&read, read.hash()), (&header, header.hash()));
            assert_eq!(read.attach_extension(Some(&item)), Err(ExtensionError::Unexpected));
        }
    }

    #[test]
    fn other_extensions_are_refused() {
        let (header, mut read) = compressed(7_700_000);
        let before = read.clone();
        for at in 0..header.extension_wire().unwrap().len() {
            let mut extension = header.extension_wire().unwrap();
            extension[at] ^= 1;
            let Ok(item) = rlp::decode_list(&extension) else { continue };
            read.attach_extension(Some(&item)).unwrap_err();
            assert_eq!(read, before);
        }
    }
}
