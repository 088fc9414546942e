//! The pages for readers: their links lead somewhere, and the picture is what its script draws.

use super::root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn pages() -> Vec<PathBuf> {
    let folders = [root().to_path_buf(), root().join("docs")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The anchor that a heading is reached by: lower case, spaces as hyphens, other signs left out.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_heading(page: &Path, wanted: &str) -> bool {
    let text = fs::read_to_string(page).unwrap();
    text.lines().any(|line| line.starts_with('#') && anchor(line) == wanted)
}

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if link.starts_with("http") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            assert!(heading.is_empty() || has_heading(&target, heading), "{}: {link} has no heading", page.display());
            count += 1;
        }
    }
    assert!(count > 10, "{count} links");
}

#[test]
fn the_picture_is_what_its_script_draws() {
    let script = root().join("tools/picture.py");
    let output = Command::new("python3").arg(script).arg("--check").output().expect("python3 draws the picture");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
