//! Value and children of a node.

use std::mem;

use crate::node::Link;
use crate::value::NodeValue;

static NO_VALUE: NodeValue = NodeValue::None;
static NO_CHILD: Link = Link::Empty;

/// Value and children of a node. Nearly all nodes have only one of both: a node that reserves no room for the other takes 128 bytes in
/// place of 184.
#[derive(Clone, Debug)]
pub(crate) enum NodeContent {
    Value(NodeValue),
    Children(Link, Link),
    Both(Box<ValueAndChildren>),
}

#[derive(Clone, Debug)]
pub(crate) struct ValueAndChildren {
    value: NodeValue,
    left: Link,
    right: Link,
}

impl NodeContent {
    pub(crate) fn new(value: NodeValue, left: Link, right: Link) -> Self {
        match (value.is_none(), left.is_empty() && right.is_empty()) {
            (_, true) => Self::Value(value),
            (true, false) => Self::Children(left, right),
            (false, false) => Self::Both(Box::new(ValueAndChildren { value, left, right })),
        }
    }

    pub(crate) fn value(&self) -> &NodeValue {
        match self {
            Self::Value(value) => value,
            Self::Children(..) => &NO_VALUE,
            Self::Both(both) => &both.value,
        }
    }

    /// Returns the value; `None` if there is no room for one.
    pub(crate) fn value_mut(&mut self) -> Option<&mut NodeValue> {
        match self {
            Self::Value(value) => Some(value),
            Self::Children(..) => None,
            Self::Both(both) => Some(&mut both.value),
        }
    }

    pub(crate) fn set_value(&mut self, value: NodeValue) {
        match self {
            Self::Value(present) => *present = value,
            Self::Children(left, right) => *self = Self::new(value, mem::take(left), mem::take(right)),
            Self::Both(both) => {
                both.value = value;
                self.shrink();
            }
        }
    }

    pub(crate) fn left(&self) -> &Link {
        match self {
            Self::Value(_) => &NO_CHILD,
            Self::Children(left, _) => left,
            Self::Both(both) => &both.left,
        }
    }

    pub(crate) fn right(&self) -> &Link {
        match self {
            Self::Value(_) => &NO_CHILD,
            Self::Children(_, right) => right,
            Self::Both(both) => &both.right,
        }
    }

    /// Returns the children, left and right; `None` if there is no room for them.
    pub(crate) fn children_mut(&mut self) -> Option<(&mut Link, &mut Link)> {
        match self {
            Self::Value(_) => None,
            Self::Children(left, right) => Some((left, right)),
            Self::Both(both) => Some((&mut both.left, &mut both.right)),
        }
    }

    /// Makes room for children.
    pub(crate) fn reserve_children(&mut self) {
        if let Self::Value(value) = self {
            let value = mem::take(value);
            *self = Self::Both(Box::new(ValueAndChildren { value, left: Link::Empty, right: Link::Empty }));
        }
    }

    /// Gives up room that is not used.
    pub(crate) fn shrink(&mut self) {
        let (is_none, is_terminal) = (self.value().is_none(), self.left().is_empty() && self.right().is_empty());
        match self {
            Self::Children(..) if is_terminal => *self = Self::Value(NodeValue::None),
            Self::Both(both) if is_none || is_terminal => {
                let ValueAndChildren { value, left, right } = &mut **both;
                *self = Self::new(mem::take(value), mem::take(left), mem::take(right));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use rhizome_primitives::B256;

    use super::*;
    use crate::record::NodePlace;
    use crate::value::KnownValue;

    #[test]
    fn content_without_value_or_children_takes_no_room_for_them() {
        let mut content = NodeContent::new(KnownValue::Short(&[1]).into(), Link::Empty, Link::Empty);
        content.reserve_children();
        if let Some((left, _)) = content.children_mut() {
            *left = Link::stored(B256::ZERO, NodePlace::UNKNOWN);
        }
        content.shrink();
        assert!(matches!(content, NodeContent::Both(_)));
        content.set_value(NodeValue::None);
        assert!(matches!(content, NodeContent::Children(Link::Stored(_), Link::Empty)));
        if let Some((left, _)) = content.children_mut() {
            *left = Link::Empty;
        }
        content.shrink();
        assert!(matches!(content, NodeContent::Value(NodeValue::None)));
    }
}
