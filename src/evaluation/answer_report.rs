//! Give me the figures and records of answers, I give you a table for the terminal, or one page that shows each
//! question's trace.

use super::answer_summary::{AnswerComparison, AnswerReport};
use super::answers::AnswerRecord;
use super::report::{STYLE, escape};
use serde_json::Value;
use std::fmt::Write;

/// Questions whose traces are shown, of each preset.
const SHOWN: usize = 500;

/// A table: a line a preset.
pub fn answer_table(reports: &[AnswerReport]) -> String {
    let width = reports.iter().map(|report| report.preset.len()).max().unwrap_or(0).max(6);
    let mut text = format!(
        "{:width$}  {:>16} {:>5} {:>5} {:>6} {:>6} {:>6}  {:>5} {:>7} {:>8} {:>7} {:>7}\n",
        "preset",
        "right (95 %)",
        "EM",
        "F1",
        "answ.",
        "verif.",
        "faith.",
        "calls",
        "tokens",
        "from file",
        "mean ms",
        "p95 ms"
    );
    for report in reports {
        let [low, high] = report.accuracy_interval;
        let verified = report.statuses.get("verified").copied().unwrap_or(0.0);
        let _ = writeln!(
            text,
            "{:width$}  {:>16} {:>5.1} {:>5.1} {:>6.1} {:>6.1} {:>6.1}  {:>5.2} {:>7.0} {:>8.0} {:>7.1} {:>7.1}",
            report.preset,
            format!("{:.1} ({:.0}-{:.0})", report.accuracy * 100.0, low * 100.0, high * 100.0),
            report.exact_match * 100.0,
            report.token_f1 * 100.0,
            report.answered * 100.0,
            verified * 100.0,
            report.faithfulness * 100.0,
            report.calls,
            report.tokens,
            report.retrieved_tokens,
            report.latency_us.mean / 1e3,
            report.latency_us.p95 / 1e3,
        );
    }
    text.pop();
    text
}

/// Rows of the page's table, a column a preset.
struct Figures<'a> {
    page: String,
    reports: &'a [AnswerReport],
}

fn percent(value: f64) -> Option<String> {
    Some(format!("{:.1}", value * 100.0))
}

fn plain(value: f64) -> Option<String> {
    Some(format!("{value:.2}"))
}

impl Figures<'_> {
    /// A row, unless no preset has a value.
    fn row(&mut self, name: &str, value: impl Fn(&AnswerReport) -> Option<String>) {
        let values: Vec<Option<String>> = self.reports.iter().map(value).collect();
        if values.iter().all(Option::is_none) {
            return;
        }
        let _ = write!(self.page, "<tr><td>{name}");
        values.into_iter().for_each(|value| _ = write!(self.page, "<td>{}", value.unwrap_or_default()));
        self.page.push_str("</tr>\n");
    }

    fn correctness(&mut self) {
        self.row("questions", |report| Some(report.questions.to_string()));
        self.row("right %", |report| percent(report.accuracy));
        self.row("right, 95 %", |report| {
            let [low, high] = report.accuracy_interval;
            Some(format!("{:.1} to {:.1}", low * 100.0, high * 100.0))
        });
        self.row("exact match", |report| percent(report.exact_match));
        self.row("F1", |report| percent(report.token_f1));
        self.row("contains", |report| percent(report.contains));
        self.row("ROUGE-L", |report| percent(report.rouge_l));
        let judged = ["judged correct", "judged faithfulness", "judged coverage", "correctness"];
        for (place, name) in judged.iter().enumerate() {
            self.row(name, |report| percent(report.judged?[place]));
        }
        self.row("answered", |report| percent(report.answered));
    }

    fn support(&mut self) {
        for status in ["verified", "unverified", "abstained", "failed"] {
            self.row(status, |report| percent(report.statuses.get(status).copied().unwrap_or(0.0)));
        }
        self.row("valid citations", |report| percent(report.citation_validity));
        self.row("claims with citation", |report| percent(report.citation_coverage));
        self.row("claims supported", |report| percent(report.faithfulness));
        self.row("context recall", |report| percent(report.context_recall?));
        self.row("context precision", |report| percent(report.context_precision?));
        self.row("macro recall", |report| percent(report.macro_recall?));
        self.row("out of label", |report| percent(report.out_of_label?));
    }

    fn work(&mut self) {
        self.row("calls", |report| plain(report.calls));
        self.row("calls, first evidence enough", |report| plain(report.calls_first_evidence?));
        self.row("tokens", |report| plain(report.tokens));
        self.row("tokens from the file", |report| plain(report.retrieved_tokens));
        self.row("right after searching again", |report| percent(report.accuracy_after_rewriting?));
        for (place, name) in ["accuracy", "precision", "recall", "rate"].iter().enumerate() {
            self.row(&format!("decision to retrieve, {name}"), |report| percent(report.decisions?[place]));
        }
        self.row("retrievals", |report| plain(report.retrievals));
        self.row("price", |report| plain(report.price));
        self.row("latency, mean ms", |report| plain(report.latency_us.mean / 1e3));
        self.row("latency, p95 ms", |report| plain(report.latency_us.p95 / 1e3));
        for stage in ["local", "bridge", "global", "text", "none"] {
            self.row(&format!("ended on {stage}"), |report| percent(*report.stages.get(stage)?));
        }
    }
}

/// One HTML page: all figures, curves of risk, comparisons, and every question with its answer and trace.
pub fn answer_html(
    title: &str,
    reports: &[AnswerReport],
    runs: &[Vec<AnswerRecord>],
    compared: &[AnswerComparison],
) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{0}</title><style>{STYLE}pre{{white-space:pre-wrap;background:#f6f6f6;\
         padding:.5em}}.right summary{{color:#2b6b2b}}.wrong \
         summary{{color:#a33}}</style>\n<h1>{0}</h1>\n<table><tr><th>",
        escape(title)
    );
    reports.iter().for_each(|report| _ = write!(page, "<th>{}", escape(&report.preset)));
    page.push_str("</tr>\n");
    let mut figures = Figures { page, reports };
    figures.correctness();
    figures.support();
    figures.work();
    let mut page = figures.page;
    page.push_str("</table>\n");
    compared.iter().for_each(|comparison| beside(&mut page, comparison));
    page.push_str("<h2>Wrong answers by share answered, as the least sure are withheld</h2>\n");
    page.push_str(&curves(reports));
    for records in runs {
        let _ = writeln!(page, "<h2>{}</h2>", escape(records.first().map_or("", |record| &record.preset)));
        records.iter().take(SHOWN).for_each(|record| question(&mut page, record));
    }
    page.push_str("</html>\n");
    page
}

fn beside(page: &mut String, comparison: &AnswerComparison) {
    let _ = writeln!(
        page,
        "<p>{} - {}: {:+.1} points right ({:+.1} to {:+.1}, p {:.3}); {:.2} of the calls, {:.2} of the tokens.</p>",
        escape(&comparison.preset),
        escape(&comparison.other),
        comparison.accuracy * 100.0,
        comparison.interval[0] * 100.0,
        comparison.interval[1] * 100.0,
        comparison.p_value,
        comparison.calls_ratio,
        comparison.tokens_ratio
    );
}

fn question(page: &mut String, record: &AnswerRecord) {
    let class = if record.is_right() { "right" } else { "wrong" };
    let status = serde_json::to_value(record.status).unwrap_or_default();
    let _ = write!(
        page,
        "<details class=\"{class}\"><summary>{} - {}</summary><p>{} ({})<br>right: {}<br>{} calls, {} \
         tokens{}</p><pre>",
        escape(&record.question),
        escape(&record.asked),
        escape(&record.answer),
        status.as_str().unwrap_or_default(),
        escape(&record.right.join(" | ")),
        record.calls,
        record.prompt_tokens + record.completion_tokens,
        record.reason.as_ref().map_or_else(String::new, |reason| format!("<br>{}", escape(reason)))
    );
    for step in record.trace.as_array().into_iter().flatten() {
        let text = |name: &str| escape(step.get(name).and_then(Value::as_str).unwrap_or_default());
        let _ = writeln!(page, "{} {} -&gt; {}", text("action"), text("what"), text("outcome"));
        for rung in step.get("retrieval").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| escape(rung.get(name).and_then(Value::as_str).unwrap_or_default());
            let _ = writeln!(page, "    {}: {} ({})", text("stage"), text("tried"), text("decision"));
        }
    }
    page.push_str("</pre></details>\n");
}

/// Risk over coverage, a line a preset.
fn curves(reports: &[AnswerReport]) -> String {
    const COLOURS: [&str; 6] = ["#3b6ea5", "#c8553d", "#588157", "#8a5a99", "#b8860b", "#666666"];
    let (left, width, height) = (40.0, 460.0, 200.0);
    let mut plot = String::from("<svg width=\"720\" height=\"250\" role=\"img\" aria-label=\"Risk by coverage\">");
    let _ = write!(plot, "<path class=\"axis\" d=\"M{left} 10V{0}H{1}\"/>", height + 10.0, left + width);
    for tick in [0.0, 0.5, 1.0] {
        let (x, y) = (left + tick * width, 10.0 + (1.0 - tick) * height);
        let _ = write!(
            plot,
            "<text x=\"{x:.0}\" y=\"230\">{:.0} %</text><text x=\"2\" y=\"{:.0}\">{:.0} %</text>",
            tick * 100.0,
            y + 4.0,
            tick * 100.0
        );
    }
    for (number, report) in reports.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let points = report
            .risk_coverage
            .iter()
            .map(|(share, risk)| format!("{:.1},{:.1}", left + share * width, 10.0 + (1.0 - risk) * height));
        let points: Vec<String> = points.collect();
        let _ = write!(
            plot,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
            points.join(" ")
        );
        let _ = write!(
            plot,
            "<text x=\"{}\" y=\"{}\" style=\"fill:{colour}\">{}</text>",
            left + width + 15.0,
            20 + 14 * number,
            escape(&report.preset)
        );
    }
    plot.push_str("</svg>\n");
    plot
}
