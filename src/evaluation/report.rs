//! Give me the figures of runs, I give you a table for the terminal, or one page with plots that needs nothing else.

use super::summary::{Comparison, RetrievalReport};
use crate::base::text::shown;
use std::fmt::Write;

/// Recall at 5 by the share of the graph that was deleted, by preset.
pub type DeletionCurve = Vec<(String, Vec<(f64, f64)>)>;

/// A table: a line a preset.
pub fn table(reports: &[RetrievalReport]) -> String {
    let width = reports.iter().map(|report| report.preset.len()).max().unwrap_or(0).max(6);
    let mut text = format!(
        "{:width$}  {:>6} {:>6} {:>15} {:>6} {:>6}  {:>6} {:>6} {:>8} {:>8}\n",
        "preset", "R@1", "R@2", "R@5 (95 %)", "R@10", "R@20", "all@5", "MRR", "p50 us", "p99 us"
    );
    for report in reports {
        let recall = |rank: usize| report.recall.get(&rank).copied().unwrap_or(0.0) * 100.0;
        let [low, high] = report.recall_interval.get(&5).copied().unwrap_or_default();
        let _ = writeln!(
            text,
            "{:width$}  {:>6.1} {:>6.1} {:>15} {:>6.1} {:>6.1}  {:>6.1} {:>6.3} {:>8.0} {:>8.0}",
            report.preset,
            recall(1),
            recall(2),
            format!("{:.1} ({:.0}-{:.0})", recall(5), low * 100.0, high * 100.0),
            recall(10),
            recall(20),
            report.all_gold_at_5 * 100.0,
            report.mrr,
            report.latency_us.p50,
            report.latency_us.p99,
        );
    }
    text.pop();
    text
}

/// A stranger's text for a page: no mark-up, and what steers or hides is shown.
pub(super) fn escape(text: &str) -> String {
    let text = shown(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

pub(super) const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 \
     1em;color:#1a1a1a;background:#fff}table{border-collapse:collapse;margin:1em 0}th,td{padding:.3em \
     .7em;border-bottom:1px solid #ddd;text-align:right}th:first-child,td:first-child{text-align:left}svg \
     text{font:12px system-ui,sans-serif;fill:#333}.bar{fill:#3b6ea5}.axis{stroke:#999;fill:none}.sure{stroke:#111}";
const COLOURS: [&str; 8] = ["#3b6ea5", "#c8553d", "#588157", "#8a5a99", "#b8860b", "#4f7f83", "#a23b72", "#666666"];

/// One HTML page: the table, bars with intervals, recall by type, rungs, comparisons, and deletion curves if there
/// are any.
pub fn html(title: &str, reports: &[RetrievalReport], comparisons: &[Comparison], deletion: &DeletionCurve) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{0}</title><style>{STYLE}</style>\n<h1>{0}</h1>\n",
        escape(title)
    );
    let questions = reports.first().map_or(0, |report| report.questions);
    let _ = writeln!(
        page,
        "<p>{questions} questions. Recall of the gold passages; bars show the middle 95 % over resampled \
         questions.</p>"
    );
    page.push_str(
        "<table><tr><th>preset<th>R@1<th>R@2<th>R@5<th>R@10<th>R@20<th>all gold@5<th>MRR<th>nDCG@10<th>p50 us<th>p99 \
         us</tr>\n",
    );
    for report in reports {
        let _ = write!(page, "<tr><td>{}", escape(&report.preset));
        report.recall.values().for_each(|recall| _ = write!(page, "<td>{:.1}", recall * 100.0));
        let latency = &report.latency_us;
        let _ = writeln!(
            page,
            "<td>{:.1}<td>{:.3}<td>{:.3}<td>{:.0}<td>{:.0}</tr>",
            report.all_gold_at_5 * 100.0,
            report.mrr,
            report.ndcg_at_10,
            latency.p50,
            latency.p99
        );
    }
    page.push_str("</table>\n<h2>Recall at 5</h2>\n");
    page.push_str(&bars(reports));
    by_type(&mut page, reports);
    stages(&mut page, reports);
    if !comparisons.is_empty() {
        page.push_str("<h2>Paired comparisons</h2>\n<table><tr><th>presets<th>rank<th>difference<th>95 %<th>p</tr>\n");
        for comparison in comparisons {
            let _ = writeln!(
                page,
                "<tr><td>{} - {}<td>{}<td>{:+.1}<td>{:+.1} to {:+.1}<td>{:.3}</tr>",
                escape(&comparison.preset),
                escape(&comparison.other),
                comparison.rank,
                comparison.difference * 100.0,
                comparison.interval[0] * 100.0,
                comparison.interval[1] * 100.0,
                comparison.p_value
            );
        }
        page.push_str("</table>\n");
    }
    if !deletion.is_empty() {
        page.push_str("<h2>Recall at 5 when parts of the graph are deleted</h2>\n");
        page.push_str(&curves(deletion));
    }
    page.push_str("</html>\n");
    page
}

fn bars(reports: &[RetrievalReport]) -> String {
    let (left, width, step) = (190.0, 520.0, 26.0);
    let height = reports.len() as f64 * step + 30.0;
    let mut plot = format!("<svg width=\"760\" height=\"{height}\" role=\"img\" aria-label=\"Recall at 5 by preset\">");
    for (row, report) in reports.iter().enumerate() {
        let (y, recall) = (row as f64 * step + 6.0, report.recall.get(&5).copied().unwrap_or(0.0));
        let [low, high] = report.recall_interval.get(&5).copied().unwrap_or_default();
        let middle = y + 8.0;
        let _ = write!(
            plot,
            "<text x=\"0\" y=\"{:.0}\">{}</text><rect class=\"bar\" x=\"{left}\" y=\"{y}\" width=\"{:.1}\" \
             height=\"16\"/><line class=\"sure\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle}\" y2=\"{middle}\"/><text \
             x=\"{:.1}\" y=\"{:.0}\">{:.1}</text>",
            y + 13.0,
            escape(&report.preset),
            recall * width,
            left + low * width,
            left + high * width,
            left + high.max(recall) * width + 6.0,
            y + 13.0,
            recall * 100.0
        );
    }
    plot.push_str("</svg>\n");
    plot
}

fn by_type(page: &mut String, reports: &[RetrievalReport]) {
    let Some(first) = reports.first().filter(|report| !report.by_type.is_empty()) else { return };
    page.push_str("<h2>Recall at 5 by type of question</h2>\n<table><tr><th>preset");
    first.by_type.keys().for_each(|kind| _ = write!(page, "<th>{}", escape(kind)));
    page.push_str("</tr>\n");
    for report in reports {
        let _ = write!(page, "<tr><td>{}", escape(&report.preset));
        for kind in first.by_type.keys() {
            let recall = report.by_type.get(kind).and_then(|recall| recall.get(&5));
            let shown = recall.map_or_else(String::new, |recall| format!("{:.1}", recall * 100.0));
            let _ = write!(page, "<td>{shown}");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

fn stages(page: &mut String, reports: &[RetrievalReport]) {
    page.push_str("<h2>Where the climb ended</h2>\n<table><tr><th>preset<th>local<th>bridge<th>global<th>text</tr>\n");
    for report in reports {
        let _ = write!(page, "<tr><td>{}", escape(&report.preset));
        for stage in ["local", "bridge", "global", "text"] {
            let _ = write!(page, "<td>{:.0} %", report.stages.get(stage).copied().unwrap_or(0.0) * 100.0);
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

fn curves(deletion: &DeletionCurve) -> String {
    let (left, top, width, height) = (50.0, 20.0, 420.0, 260.0);
    let points = || deletion.iter().flat_map(|curve| &curve.1);
    let most_deleted = points().map(|point| point.0).fold(0.1, f64::max);
    let least = points().map(|point| point.1).fold(1.0, f64::min);
    let floor = ((least * 10.0).floor() / 10.0 - 0.05).max(0.0);
    let x = |share: f64| left + share / most_deleted * width;
    let y = |recall: f64| top + (1.0 - recall) / (1.0 - floor).max(1e-9) * height;
    let mut plot = String::from("<svg width=\"720\" height=\"330\" role=\"img\" aria-label=\"Deletion curves\">");
    let _ = write!(plot, "<path class=\"axis\" d=\"M{left} {top}V{}H{}\"/>", top + height, left + width);
    for tick in 0..=4 {
        let (recall, share) = (floor + (1.0 - floor) * f64::from(tick) / 4.0, most_deleted * f64::from(tick) / 4.0);
        let _ = write!(plot, "<text x=\"5\" y=\"{:.0}\">{:.0} %</text>", y(recall) + 4.0, recall * 100.0);
        let _ = write!(
            plot,
            "<text x=\"{:.0}\" y=\"{:.0}\">{:.0} %</text>",
            x(share) - 10.0,
            top + height + 18.0,
            share * 100.0
        );
    }
    for (number, (preset, points)) in deletion.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let line: Vec<String> = points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
        let _ = write!(
            plot,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
            line.join(" ")
        );
        let place = top + 14.0 * number as f64 + 10.0;
        let _ = write!(
            plot,
            "<text x=\"{}\" y=\"{place}\" style=\"fill:{colour}\">{}</text>",
            left + width + 15.0,
            escape(preset)
        );
    }
    plot.push_str("</svg>\n");
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_escapes_names() {
        let mut report = RetrievalReport { preset: "<b>".into(), questions: 3, ..Default::default() };
        report.recall = [(1, 0.1), (2, 0.2), (5, 0.5), (10, 0.6), (20, 0.7)].into();
        report.recall_interval.insert(5, [0.4, 0.6]);
        let page = html("a & b", &[report.clone()], &[], &vec![("<b>".into(), vec![(0.0, 0.9), (0.4, 0.7)])]);
        assert!(
            page.contains("a &amp; b")
                && page.contains("&lt;b&gt;")
                && !page.contains("<b>")
                && page.contains("polyline")
        );
        assert!(!page.contains("http") && page.ends_with("</html>\n"));
        assert!(table(&[report]).contains("50.0 (40-60)"));
    }
}
