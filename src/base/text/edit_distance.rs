//! Give me a word, I tell you of any beginning whether a word within an edit distance can start so.

/// Levenshtein distance to one word, computed row by row along a growing key; counted in characters.
#[derive(Debug)]
pub struct EditDistance {
    word: Vec<char>,
    limit: usize,
    /// Rows of the distance matrix, one a character of the key, with the bytes of the key they stand for.
    rows: Vec<(usize, Vec<usize>)>,
}

impl EditDistance {
    /// Accepts keys within `limit` edits of `word`.
    pub fn new(word: &str, limit: usize) -> Self {
        let word: Vec<char> = word.chars().collect();
        let first = (0..=word.len()).collect();
        EditDistance { word, limit, rows: vec![(0, first)] }
    }

    /// Moves to `key`, which shares a beginning with the key before; says whether some longer key can still match.
    pub fn enter(&mut self, key: &[u8]) -> bool {
        // A caller walks depth first: the key is the one before, cut anywhere, plus one byte.
        while self.rows.last().is_some_and(|(length, _)| *length >= key.len()) && self.rows.len() > 1 {
            self.rows.pop();
        }
        let Some((length, row)) = self.rows.last() else { return false };
        let Some(character) = std::str::from_utf8(&key[*length..]).ok().and_then(|rest| rest.chars().next()) else {
            // In the middle of a character nothing changes; a key that is not UTF-8 ends after four bytes.
            return key.len() - length < 4;
        };
        let mut next = Vec::with_capacity(row.len());
        next.push(row[0] + 1);
        for (index, &letter) in self.word.iter().enumerate() {
            let replace = row[index] + usize::from(letter != character);
            next.push(replace.min(row[index + 1] + 1).min(next[index] + 1));
        }
        let alive = next.iter().any(|&distance| distance <= self.limit);
        self.rows.push((key.len(), next));
        alive
    }

    /// Whether a whole word is within the limit.
    pub fn is_within(&mut self, word: &str) -> bool {
        self.rows.truncate(1);
        let ends = word.char_indices().map(|(start, character)| start + character.len_utf8());
        for end in ends {
            if !self.enter(&word.as_bytes()[..end]) {
                return false;
            }
        }
        self.distance(word.as_bytes()).is_some()
    }

    /// Distance of the key entered last, if it is within the limit.
    pub fn distance(&self, key: &[u8]) -> Option<usize> {
        let (length, row) = self.rows.last()?;
        row.last().copied().filter(|&distance| *length == key.len() && distance <= self.limit)
    }
}
