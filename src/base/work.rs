//! Give me what a query may cost, I count what reading the file costs it and say when it is too much.
//!
//! A file declares counts, lengths and lists, and a hostile one declares anything. So no reader trusts that work which
//! a few bytes ask for is little: every list, string, block of text and walk is paid for before it is read.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// Bytes of documents' text that are inflated or copied.
    TextBytes,
    /// Bytes of names, titles, headings and metadata that are read.
    StringBytes,
    /// Numbers of lists, nodes, arcs, rows and products that are looked at.
    Steps,
    /// Things that a call gives back.
    Results,
}

impl Work {
    /// All of them.
    pub const ALL: [Work; 4] = [Work::TextBytes, Work::StringBytes, Work::Steps, Work::Results];

    /// Its name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Work::TextBytes => "text-bytes",
            Work::StringBytes => "string-bytes",
            Work::Steps => "steps",
            Work::Results => "results",
        }
    }
}

/// Most that one query may cost.
///
/// The defaults grow with the file: who wants us to work must send us bytes. They are a guess, many times what the
/// largest honest queries of our measurements took, and small enough that a file made by hand costs a second or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLimits {
    /// Bytes of documents' text that are inflated or copied.
    pub text_bytes: u64,
    /// Bytes of names, titles, headings and metadata that are read.
    pub string_bytes: u64,
    /// Numbers of lists, nodes, arcs, rows and products that are looked at.
    pub steps: u64,
    /// Things that a call gives back.
    pub results: u64,
}

impl WorkLimits {
    /// Nothing is too much: for files that one made oneself.
    pub const NONE: WorkLimits =
        WorkLimits { text_bytes: u64::MAX, string_bytes: u64::MAX, steps: u64::MAX, results: u64::MAX };

    /// The defaults for a file of this many bytes.
    pub const fn of_file(byte_length: u64) -> WorkLimits {
        WorkLimits {
            text_bytes: (32 << 20) + byte_length.saturating_mul(16),
            string_bytes: (16 << 20) + byte_length.saturating_mul(8),
            steps: (32 << 20) + byte_length.saturating_mul(16),
            results: 1 << 20,
        }
    }

    /// Changes one of them.
    pub const fn set(&mut self, work: Work, limit: u64) {
        match work {
            Work::TextBytes => self.text_bytes = limit,
            Work::StringBytes => self.string_bytes = limit,
            Work::Steps => self.steps = limit,
            Work::Results => self.results = limit,
        }
    }

    const fn of(&self, work: Work) -> u64 {
        match work {
            Work::TextBytes => self.text_bytes,
            Work::StringBytes => self.string_bytes,
            Work::Steps => self.steps,
            Work::Results => self.results,
        }
    }
}

/// A query would cost more than its limits allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the query needs more than {limit} {}", .work.name())]
#[non_exhaustive]
pub struct WorkExceeded {
    /// What it needs more of.
    pub work: Work,
    /// How much was allowed.
    pub limit: u64,
}

/// Counts the work of one query. Threads may share it; what they count at the same moment may get lost, so that the
/// count costs no more than an addition.
#[derive(Debug)]
pub struct WorkMeter {
    limits: WorkLimits,
    spent: [AtomicU64; 4],
}

impl WorkMeter {
    /// Nothing is spent.
    pub fn new(limits: WorkLimits) -> Self {
        WorkMeter { limits, spent: Default::default() }
    }

    /// What may be spent.
    pub fn limits(&self) -> WorkLimits {
        self.limits
    }

    /// Counts `amount`; an error if it is too much.
    #[inline]
    pub fn spend(&self, work: Work, amount: u64) -> Result<(), WorkExceeded> {
        let spent = &self.spent[work as usize];
        let total = spent.load(Ordering::Relaxed).saturating_add(amount);
        spent.store(total, Ordering::Relaxed);
        let limit = self.limits.of(work);
        if total <= limit { Ok(()) } else { Err(WorkExceeded { work, limit }) }
    }

    /// What was spent.
    pub fn spent(&self, work: Work) -> u64 {
        self.spent[work as usize].load(Ordering::Relaxed)
    }

    /// Forgets what was spent: something new begins.
    pub fn renew(&self) {
        self.spent.iter().for_each(|spent| spent.store(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_adds_up_to_the_limit_and_never_wraps() {
        let limits = WorkLimits { steps: 10, ..WorkLimits::NONE };
        let meter = WorkMeter::new(limits);
        assert_eq!(meter.spend(Work::Steps, 10), Ok(()));
        assert_eq!(meter.spend(Work::Steps, 1), Err(WorkExceeded { work: Work::Steps, limit: 10 }));
        assert!(meter.spend(Work::Steps, u64::MAX).is_err() && meter.spend(Work::Steps, 0).is_err());
        assert_eq!(meter.spend(Work::TextBytes, u64::MAX), Ok(()));
        meter.renew();
        assert_eq!((meter.spend(Work::Steps, 9), meter.spent(Work::Steps)), (Ok(()), 9));
    }
}
