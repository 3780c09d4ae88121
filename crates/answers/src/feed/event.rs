//! Events of the change feed as text.

use crate::feed::cursor::FeedCursor;
use std::fmt::Display;

/// Form of the events of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedForm {
    /// Server-sent events, with the cursor as `id`.
    EventStream,
    /// JSON objects, each on a line.
    Lines,
}

/// Type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventType {
    /// Steps of a block that joined the best chain.
    Enacted,
    /// Steps of a block that left it, the last one first.
    Retracted,
    /// A development network went back to a block: all blocks above it are deleted.
    Rewound,
    /// A place without anything that was asked for.
    Progress,
}

impl EventType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Enacted => "enacted",
            Self::Retracted => "retracted",
            Self::Rewound => "rewound",
            Self::Progress => "progress",
        }
    }
}

/// A page of events, with the place of the last one.
pub(crate) struct EventPage {
    form: FeedForm,
    text: Vec<u8>,
    /// Place that the client knows; `None` before the first event of a feed that begins without a cursor.
    known: Option<FeedCursor>,
}

impl EventPage {
    pub(crate) fn new(form: FeedForm, known: Option<FeedCursor>) -> Self {
        Self { form, text: Vec::with_capacity(1024), known }
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds an event. `json`: its object.
    pub(crate) fn push(&mut self, kind: EventType, cursor: FeedCursor, json: &[u8]) {
        if self.form == FeedForm::EventStream {
            self.write("event: ", kind.name());
            self.write("\nid: ", cursor);
            self.write("\ndata: ", "");
        }
        self.text.extend_from_slice(json);
        self.text.extend_from_slice(if self.form == FeedForm::EventStream { b"\n\n" } else { b"\n" });
        self.known = Some(cursor);
    }

    fn write(&mut self, label: &str, value: impl Display) {
        self.text.extend_from_slice(format!("{label}{value}").as_bytes());
    }

    /// Returns the events, an event `progress` if the place differs from the last event, and a last line
    /// `{"cursor","isAtHead"}`.
    pub(crate) fn finish(mut self, cursor: FeedCursor, is_at_head: bool) -> Vec<u8> {
        if self.known != Some(cursor) {
            self.push(EventType::Progress, cursor, format!(r#"{{"type":"progress","cursor":"{cursor}"}}"#).as_bytes());
        }
        self.write("", format_args!(r#"{{"cursor":"{cursor}","isAtHead":{is_at_head}}}"#));
        self.text
    }
}
