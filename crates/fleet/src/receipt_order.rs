//! The place in the log up to which all messages are handled, although they finish in any order.

use std::collections::BTreeSet;

/// Messages of a log, from their arrival until they are handled.
#[derive(Debug, Default)]
pub(crate) struct ReceiptOrder {
    last: u64,
    unfinished: BTreeSet<u64>,
}

impl ReceiptOrder {
    /// Begins behind a message.
    pub(crate) fn begin(&mut self, after: u64) {
        self.last = after;
        self.unfinished.clear();
    }

    /// Adds a message.
    pub(crate) fn received(&mut self, sequence: u64) {
        self.last = self.last.max(sequence);
        self.unfinished.insert(sequence);
    }

    /// Removes a message that need not be read again.
    pub(crate) fn finished(&mut self, sequence: u64) {
        self.unfinished.remove(&sequence);
    }

    /// Returns the sequence number up to which no message needs to be read again.
    pub(crate) fn place(&self) -> u64 {
        self.unfinished.first().map_or(self.last, |first| first.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_before_the_first_unfinished_message() {
        let mut order = ReceiptOrder::default();
        order.begin(10);
        assert_eq!(order.place(), 10);
        [11, 12, 14].iter().for_each(|sequence| order.received(*sequence));
        order.finished(12);
        assert_eq!(order.place(), 10);
        order.finished(11);
        assert_eq!(order.place(), 13);
        order.finished(14);
        assert_eq!(order.place(), 14);
        order.begin(3);
        assert_eq!(order.place(), 3);
    }
}
