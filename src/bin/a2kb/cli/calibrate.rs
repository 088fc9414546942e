//! `a2kb calibrate`: where the gate of a file should stand.

use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::evaluation::calibration::{calibrate, nearness};
use a2kb::evaluation::dataset::read_questions;
use a2kb::{Error, Result};
use clap::Args;
use std::path::PathBuf;

/// Find the least nearness at which a question is worth asking (for `ask --gate`)
#[derive(Args)]
pub(super) struct CalibrateArguments {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    query: QueryArguments,
    /// Questions that the file should answer
    #[arg(long)]
    questions: PathBuf,
    /// Questions that it should not
    #[arg(long)]
    foreign: Option<PathBuf>,
    /// Share of the first kind that may be turned away
    #[arg(long, default_value_t = 0.02)]
    quantile: f64,
}

impl CalibrateArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        if !(0.0..1.0).contains(&self.quantile) {
            return Err(Error::invalid("--quantile", format!("{} is out of range", self.quantile), "take 0 to 1"));
        }
        let kb = self.query.open(&self.file)?;
        let inside = nearness(&kb, &read_questions(&self.questions)?)?;
        let outside =
            self.foreign.as_deref().map(|path| nearness(&kb, &read_questions(path)?)).transpose()?.unwrap_or_default();
        let found = calibrate(&inside, &outside, self.quantile);
        let found = found.ok_or_else(|| Error::invalid("--questions", "there are none", "give some"))?;
        if context.json {
            output::json("a2kb.calibrate", &found)?;
            return Ok(Outcome::Done);
        }
        let [least, tenth, median, most] = found.nearness;
        let mut text = format!(
            "--gate {:.3}\nlets {:.1} % of {} questions through (nearness {least:.3} to {most:.3}, a tenth below \
             {tenth:.3}, half below {median:.3})",
            found.threshold,
            found.let_through * 100.0,
            found.inside,
        );
        if let Some(share) = found.turned_away {
            text.push_str(&format!("\nturns {:.1} % of {} foreign ones away", share * 100.0, found.outside));
        }
        output::text_out(&text)?;
        Ok(Outcome::Done)
    }
}
