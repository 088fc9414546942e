//! Give me the figures and records of answers, I give you a table for the terminal, or one page that shows each question's trace.

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

fn row(page: &mut String, name: &str, reports: &[AnswerReport], value: impl Fn(&AnswerReport) -> Option<String>) {
    if reports.iter().all(|report| value(report).is_none()) {
        return;
    }
    let _ = write!(page, "<tr><td>{name}");
    reports.iter().for_each(|report| _ = write!(page, "<td>{}", value(report).unwrap_or_default()));
    page.push_str("</tr>\n");
}

/// One HTML page: all figures, curves of risk, comparisons, and every question with its answer and trace.
pub fn answer_html(
    title: &str,
    reports: &[AnswerReport],
    runs: &[Vec<AnswerRecord>],
    compared: &[AnswerComparison],
) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{0}</title><style>{STYLE}pre{{white-space:pre-wrap;background:#f6f6f6;padding:.5em}}\
         .right summary{{color:#2b6b2b}}.wrong summary{{color:#a33}}</style>\n<h1>{0}</h1>\n<table><tr><th>",
        escape(title)
    );
    reports.iter().for_each(|report| _ = write!(page, "<th>{}", escape(&report.preset)));
    page.push_str("</tr>\n");
    let percent = |value: f64| Some(format!("{:.1}", value * 100.0));
    let plain = |value: f64| Some(format!("{value:.2}"));
    row(&mut page, "questions", reports, |report| Some(report.questions.to_string()));
    row(&mut page, "right %", reports, |report| percent(report.accuracy));
    row(&mut page, "right, 95 %", reports, |report| {
        let [low, high] = report.accuracy_interval;
        Some(format!("{:.1} to {:.1}", low * 100.0, high * 100.0))
    });
    row(&mut page, "exact match", reports, |report| percent(report.exact_match));
    row(&mut page, "F1", reports, |report| percent(report.token_f1));
    row(&mut page, "contains", reports, |report| percent(report.contains));
    row(&mut page, "ROUGE-L", reports, |report| percent(report.rouge_l));
    for (place, name) in ["judged correct", "judged faithfulness", "judged coverage", "correctness"].iter().enumerate()
    {
        row(&mut page, name, reports, |report| percent(report.judged?[place]));
    }
    row(&mut page, "answered", reports, |report| percent(report.answered));
    for status in ["verified", "unverified", "abstained", "failed"] {
        row(&mut page, status, reports, |report| percent(report.statuses.get(status).copied().unwrap_or(0.0)));
    }
    row(&mut page, "valid citations", reports, |report| percent(report.citation_validity));
    row(&mut page, "claims with citation", reports, |report| percent(report.citation_coverage));
    row(&mut page, "claims supported", reports, |report| percent(report.faithfulness));
    row(&mut page, "context recall", reports, |report| percent(report.context_recall?));
    row(&mut page, "context precision", reports, |report| percent(report.context_precision?));
    row(&mut page, "macro recall", reports, |report| percent(report.macro_recall?));
    row(&mut page, "out of label", reports, |report| percent(report.out_of_label?));
    row(&mut page, "calls", reports, |report| plain(report.calls));
    row(&mut page, "calls, first evidence enough", reports, |report| plain(report.calls_first_evidence?));
    row(&mut page, "tokens", reports, |report| plain(report.tokens));
    row(&mut page, "tokens from the file", reports, |report| plain(report.retrieved_tokens));
    row(&mut page, "right after searching again", reports, |report| percent(report.accuracy_after_rewriting?));
    for (place, name) in ["accuracy", "precision", "recall", "rate"].iter().enumerate() {
        row(&mut page, &format!("decision to retrieve, {name}"), reports, |report| percent(report.decisions?[place]));
    }
    row(&mut page, "retrievals", reports, |report| plain(report.retrievals));
    row(&mut page, "price", reports, |report| plain(report.price));
    row(&mut page, "latency, mean ms", reports, |report| plain(report.latency_us.mean / 1e3));
    row(&mut page, "latency, p95 ms", reports, |report| plain(report.latency_us.p95 / 1e3));
    for stage in ["local", "bridge", "global", "text", "none"] {
        row(&mut page, &format!("ended on {stage}"), reports, |report| percent(*report.stages.get(stage)?));
    }
    page.push_str("</table>\n");
    for comparison in compared {
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
    page.push_str("<h2>Wrong answers by share answered, as the least sure are withheld</h2>\n");
    page.push_str(&curves(reports));
    for records in runs {
        let _ = writeln!(page, "<h2>{}</h2>", escape(records.first().map_or("", |record| &record.preset)));
        records.iter().take(SHOWN).for_each(|record| question(&mut page, record));
    }
    page.push_str("</html>\n");
    page
}

fn question(page: &mut String, record: &AnswerRecord) {
    let class = if record.is_right() { "right" } else { "wrong" };
    let status = serde_json::to_value(record.status).unwrap_or_default();
    let _ = write!(
        page,
        "<details class=\"{class}\"><summary>{} - {}</summary><p>{} ({})<br>right: {}<br>{} calls, {} tokens{}</p><pre>",
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
