//! Progress of long work: a bar with rate and remaining time on a terminal, a line now and then elsewhere.

use super::terminal;
use a2kb::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far a build is.
pub(super) struct BuildProgress {
    bar: Option<ProgressBar>,
    phase: &'static str,
    quiet: bool,
    last_line: Instant,
    phase_start: Instant,
    /// Texts that an interrupted build had embedded.
    taken_over: u64,
}

impl BuildProgress {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = (!quiet && terminal::is_watched()).then(|| ProgressBar::new(0));
        let now = Instant::now();
        BuildProgress { bar, phase: "", quiet, last_line: now, phase_start: now, taken_over: 0 }
    }

    pub(super) fn show(&mut self, progress: Progress) {
        let (phase, bytes, total_bytes) = match progress {
            Progress::Reading { bytes, total_bytes, .. } => ("reading", bytes, total_bytes),
            Progress::Linking { bytes, total_bytes } => ("linking", bytes, total_bytes),
            Progress::Embedding { done, total, .. } => ("embedding", done, total),
            _ => ("writing", 0, 0),
        };
        let new_phase = phase != self.phase;
        if new_phase {
            (self.phase, self.phase_start) = (phase, Instant::now());
        }
        let texts = phase == "embedding";
        if let Progress::Embedding { reused, done, .. } = progress
            && reused == done
        {
            // What was taken over took no time: the rate is that of new vectors.
            self.phase_start = Instant::now();
            self.taken_over = reused;
        }
        match &self.bar {
            Some(bar) => {
                if new_phase {
                    bar.reset();
                    bar.set_message(phase);
                    let template = if texts {
                        "{msg:9} {wide_bar} {pos}/{len} texts {per_sec} eta {eta}"
                    } else if total_bytes > 0 {
                        "{msg:8} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}"
                    } else {
                        "{msg:8} {spinner} {bytes} {bytes_per_sec}"
                    };
                    if let Ok(style) = ProgressStyle::with_template(template) {
                        bar.set_style(style);
                    }
                }
                bar.set_length(total_bytes.max(bytes));
                bar.set_position(bytes);
            }
            None if !self.quiet && self.last_line.elapsed() >= LINE_EVERY => {
                self.last_line = Instant::now();
                let share = bytes.checked_mul(100).and_then(|bytes| bytes.checked_div(total_bytes));
                let share = share.map_or_else(String::new, |share| format!(" ({share} %)"));
                if texts {
                    let rate = (bytes - self.taken_over) as f64 / self.phase_start.elapsed().as_secs_f64().max(1e-3);
                    let left = (total_bytes - bytes) as f64 / rate.max(1e-3);
                    let of = format!("{phase}: {bytes} of {total_bytes} texts{share}");
                    terminal::say(&format!("{of}, {rate:.0}/s, {left:.0} s left"));
                } else {
                    terminal::say(&format!("{phase}: {}{share}", super::output::bytes(bytes)));
                }
            }
            None => {}
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
