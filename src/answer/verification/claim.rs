//! Give me an answer, I give you its sentences and the numbers that each cites.

use crate::base::text::sentences;

/// A sentence with the numbers behind it.
pub(super) struct Cut {
    pub(super) text: String,
    pub(super) numbers: Vec<usize>,
}

/// Cuts an answer into sentences and takes their `[n]`, `[1, 2]`, `[Source 3]` out.
pub(super) fn cut(text: &str) -> Vec<Cut> {
    let (mut plain, mut marks) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let inner = bracketed(&rest[open + 1..]);
        match inner.and_then(mark) {
            Some(numbers) => {
                plain.push_str(&rest[..open]);
                let length = plain.trim_end().len();
                plain.truncate(length);
                marks.push((plain.len(), numbers));
                rest = &rest[open + 2 + inner.map_or(0, str::len)..];
            }
            None => {
                plain.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    plain.push_str(rest);
    let ranges = sentences(&plain);
    let mut cuts: Vec<Cut> =
        ranges.iter().map(|range| Cut { text: plain[range.clone()].to_owned(), numbers: Vec::new() }).collect();
    for (place, numbers) in marks {
        // A mark belongs to the sentence that it stands in or right behind.
        let index = ranges.partition_point(|range| range.start < place).saturating_sub(1);
        if let Some(cut) = cuts.get_mut(index) {
            cut.numbers.extend(numbers);
        }
    }
    cuts
}

/// What stands before the next closing bracket, which is near: a mark is short.
fn bracketed(rest: &str) -> Option<&str> {
    const MAX_MARK: usize = 256;
    let near = &rest[..rest.floor_char_boundary(MAX_MARK)];
    near.split_once(']').map(|(inner, _)| inner)
}

/// The numbers of a mark; `None` if the brackets hold anything else.
fn mark(inner: &str) -> Option<Vec<usize>> {
    let parts = inner.split([',', ';']).map(|part| {
        let part = part.trim();
        let part = part.strip_prefix("Source").or(part.strip_prefix("source")).unwrap_or(part).trim();
        part.trim_start_matches('#').parse().ok()
    });
    parts.collect::<Option<Vec<usize>>>().filter(|numbers| !numbers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_out_and_belong_to_their_sentence() {
        let cuts = cut("Ada built it [1]. It is [tall] 30 m high.[2, 3] Nobody knows [Source 4][x].");
        let found: Vec<(&str, &[usize])> = cuts.iter().map(|cut| (cut.text.as_str(), cut.numbers.as_slice())).collect();
        assert_eq!(
            found,
            [("Ada built it.", &[1][..]), ("It is [tall] 30 m high.", &[2, 3]), ("Nobody knows[x].", &[4]),]
        );
        assert!(cut("").is_empty());
    }
}
