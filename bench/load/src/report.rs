//! Result of a run.

use std::fmt::{Display, Formatter, Result};
use std::time::Duration;

/// Counts and times; displayed as JSON, with times in microseconds.
#[derive(Default)]
pub struct Report {
    /// Times of the right answers, in units of 100 ns.
    times: Vec<u32>,
    wrong: u64,
    lost: u64,
    fault: Option<String>,
    pub elapsed: Duration,
}

impl Report {
    pub fn right(&mut self, time: Duration) {
        self.times.push(u32::try_from(time.as_nanos() / 100).unwrap_or(u32::MAX));
    }

    pub fn wrong(&mut self, fault: String) {
        self.wrong += 1;
        self.fault.get_or_insert(fault);
    }

    pub fn lost(&mut self, fault: String) {
        self.lost += 1;
        self.fault.get_or_insert(fault);
    }

    /// Sorts the times. Call it before printing.
    pub fn finish(mut self, elapsed: Duration) -> Self {
        self.times.sort_unstable();
        self.elapsed = elapsed;
        self
    }

    fn within(&self, thousandths: usize) -> f64 {
        let index = self.times.len() * thousandths / 1000;
        self.times.get(index.min(self.times.len().saturating_sub(1))).map_or(0.0, |&time| f64::from(time) / 10.0)
    }
}

impl Display for Report {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(
            formatter,
            r#"{{"right":{},"wrong":{},"lost":{},"seconds":{},"p50":{},"p99":{},"p999":{},"max":{},"fault":{}}}"#,
            self.times.len(),
            self.wrong,
            self.lost,
            self.elapsed.as_secs_f64(),
            self.within(500),
            self.within(990),
            self.within(999),
            self.within(1000),
            self.fault.as_ref().map_or_else(|| "null".to_owned(), |text| quoted(text)),
        )
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => quoted.push(' '),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
