//! Readers of the next element of a list.

use rhizome_primitives::DecodeError;
use rhizome_primitives::rlp::{Elements, Item, read_u64};

use super::identity::NodeId;

pub(super) fn item<'a>(fields: &mut Elements<'a>, name: &'static str) -> Result<Item<'a>, DecodeError> {
    fields.next().ok_or(DecodeError::Missing(name))?
}

pub(super) fn list<'a>(fields: &mut Elements<'a>, name: &'static str) -> Result<Elements<'a>, DecodeError> {
    item(fields, name)?.elements(name)
}

pub(super) fn number<N: TryFrom<u64>>(fields: &mut Elements<'_>, name: &'static str) -> Result<N, DecodeError> {
    to_number(item(fields, name)?, name)
}

pub(super) fn to_number<N: TryFrom<u64>>(item: Item<'_>, name: &'static str) -> Result<N, DecodeError> {
    let value = read_u64(item.bytes(), u64::MAX, name)?;
    value.try_into().or(Err(DecodeError::TooLarge(name)))
}

/// Replaces invalid UTF-8, like the reference.
pub(super) fn text(fields: &mut Elements<'_>, name: &'static str) -> Result<String, DecodeError> {
    Ok(String::from_utf8_lossy(item(fields, name)?.bytes()).into_owned())
}

pub(super) fn node_id(fields: &mut Elements<'_>, name: &'static str) -> Result<NodeId, DecodeError> {
    to_node_id(item(fields, name)?, name)
}

pub(super) fn to_node_id(item: Item<'_>, field: &'static str) -> Result<NodeId, DecodeError> {
    let id = item.bytes();
    NodeId::from_slice(id).ok_or(DecodeError::FieldLength { field, got: id.len() })
}
