//! Score of one node or address (docs/spec/p2p.md, 11.1 and 11.2).

macro_rules! score_events {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// Event that counts for a peer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ScoreEvent {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ScoreEvent {
            /// All events.
            pub const ALL: &'static [ScoreEvent] = &[$(ScoreEvent::$name,)+];

            /// Returns the name of the counter in `sco_peerList`, and in metrics.
            pub fn name(self) -> &'static str {
                match self {
                    $(ScoreEvent::$name => $text,)+
                }
            }
        }
    };
}

score_events! {
    /// Hello was accepted.
    SuccessfulHandshake = "successfulHandshakes",
    /// The handshake or Hello failed.
    FailedHandshake = "failedHandshakes",
    /// Another network.
    InvalidNetwork = "invalidNetworks",
    /// A message that the same peer has sent before.
    RepeatedMessage = "repeatedMessages",
    /// A block that passes the header rules.
    ValidBlock = "validBlocks",
    /// A transaction that the pool takes.
    ValidTransaction = "validTransactions",
    /// A block that breaks a rule.
    InvalidBlock = "invalidBlocks",
    /// A transaction that breaks a rule.
    InvalidTransaction = "invalidTransactions",
    /// A message that no honest peer sends.
    InvalidMessage = "invalidMessages",
    /// No answer in time.
    TimeoutMessage = "timeoutMessages",
    /// An answer without a request.
    UnexpectedMessage = "unexpectedMessages",
    /// A header that breaks a rule.
    InvalidHeader = "invalidHeader",
    /// Another version of rsk.
    IncompatibleProtocol = "incompatibleProtocols",
    /// Another genesis block.
    UnexpectedGenesis = "unexpectedGenesis",
}

impl ScoreEvent {
    /// Whether the event leads to a punishment.
    pub fn bans(self) -> bool {
        matches!(self, ScoreEvent::InvalidBlock | ScoreEvent::InvalidMessage | ScoreEvent::InvalidHeader)
    }
}

/// Length of punishments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PunishmentRule {
    /// First punishment in milliseconds.
    pub duration_ms: u64,
    /// Percent by which each further punishment is longer.
    pub increment_percent: u64,
    /// Maximum in milliseconds; 0: none.
    pub maximum_ms: u64,
}

impl PunishmentRule {
    /// For node ids.
    pub const NODES: PunishmentRule = PunishmentRule { duration_ms: 720_000, increment_percent: 10, maximum_ms: 0 };
    /// For addresses.
    pub const ADDRESSES: PunishmentRule = PunishmentRule { maximum_ms: 360_000_000, ..PunishmentRule::NODES };

    /// Returns the length of a punishment in milliseconds.
    pub fn length(&self, earlier: u32, score: i64) -> u64 {
        let is_above = |length: u64| self.maximum_ms > 0 && length > self.maximum_ms;
        let mut length = self.duration_ms;
        for _ in 0..earlier {
            length =
                (u128::from(length) * u128::from(100 + self.increment_percent) / 100).try_into().unwrap_or(u64::MAX);
            // Without a maximum the length saturates.
            if is_above(length) || length == u64::MAX {
                break;
            }
        }
        if score < 0 {
            length = length.saturating_mul(score.unsigned_abs());
        }
        if is_above(length) { self.maximum_ms } else { length }
    }
}

/// Counters, score and punishment of a peer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerScore {
    counts: [u64; ScoreEvent::ALL.len()],
    /// Negative after an offence.
    pub score: i64,
    /// Number of punishments, the current one included.
    pub punishments: u32,
    /// End of the current punishment in milliseconds since 1970; 0 if there is none.
    pub punished_until: u64,
}

impl PeerScore {
    /// Returns how often an event was recorded since the last punishment ended.
    pub fn count(&self, event: ScoreEvent) -> u64 {
        self.counts[event as usize]
    }

    /// Whether the peer is punished.
    pub fn is_punished(&self, now: u64) -> bool {
        now < self.punished_until
    }

    /// Returns the score at a time: counters start again after a punishment.
    pub fn at(&self, now: u64) -> PeerScore {
        match self.punished_until > 0 && !self.is_punished(now) {
            true => PeerScore { punishments: self.punishments, ..PeerScore::default() },
            false => self.clone(),
        }
    }

    /// Records an event. With a rule, an offence starts a punishment unless one is under way. Returns whether it did.
    pub fn record(&mut self, event: ScoreEvent, now: u64, rule: Option<&PunishmentRule>) -> bool {
        *self = self.at(now);
        self.counts[event as usize] += 1;
        match event {
            ScoreEvent::InvalidBlock
            | ScoreEvent::InvalidMessage
            | ScoreEvent::InvalidHeader
            | ScoreEvent::InvalidTransaction
            | ScoreEvent::InvalidNetwork => self.score = self.score.min(0) - 1,
            // Incompatible peers gain, as in the reference.
            ScoreEvent::ValidBlock
            | ScoreEvent::ValidTransaction
            | ScoreEvent::IncompatibleProtocol
            | ScoreEvent::UnexpectedGenesis => self.score += i64::from(self.score >= 0),
            _ => {}
        }
        let has_offence = ScoreEvent::ALL.iter().any(|event| event.bans() && self.count(*event) > 0);
        let Some(rule) = rule.filter(|_| has_offence && !self.is_punished(now)) else { return false };
        self.punished_until = now.saturating_add(rule.length(self.punishments, self.score));
        self.punishments += 1;
        true
    }
}
