//! Give me sentences with their token counts, I give you chunks of whole sentences.

use crate::base::limits::MAX_CHUNK_BYTES;
use crate::corpus::batch::BatchChunk;
use crate::corpus::builder::Layer;

/// A sentence as the chunker sees it.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Tokens of the sentence.
    pub tokens: u32,
    /// First byte in its document.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The heading it stands under.
    pub heading: Option<u32>,
    /// Belongs to the piece before: a row of the same table, the rest of the same code.
    pub glued: bool,
}

/// Cuts sentences into chunks of about the layer's target: at headings always, within a table or code only when it is
/// longer than two targets, before its bytes exceed the limit always; with the layer's overlap repeated from the chunk
/// before under the same heading.
pub fn chunks(pieces: &[Piece], layer: &Layer) -> Vec<BatchChunk> {
    let mut chunks = Vec::new();
    let (mut start, mut covered) = (0, 0);
    while covered < pieces.len() {
        let heading = pieces[start].heading;
        let (mut end, mut tokens) = (start + 1, pieces[start].tokens);
        while let Some(piece) = pieces.get(end).filter(|piece| piece.heading == heading) {
            let limit = if piece.glued { layer.target_tokens.saturating_mul(2) } else { layer.target_tokens };
            if tokens.saturating_add(piece.tokens) > limit || piece.end - pieces[start].start > MAX_CHUNK_BYTES {
                break;
            }
            if end > covered
                && !piece.glued
                && tokens + glued_run(pieces, end) > layer.target_tokens.saturating_mul(2)
                && tokens * 2 > layer.target_tokens
            {
                break; // a table that would be cut starts a chunk of its own
            }
            tokens += piece.tokens;
            end += 1;
        }
        chunks.push(BatchChunk { first_sentence: start as u32, sentence_count: (end - start) as u32, heading });
        covered = end;
        start = next_start(pieces, start, end, layer);
    }
    chunks
}

/// Tokens of the piece at `at` and those glued to it.
fn glued_run(pieces: &[Piece], at: usize) -> u32 {
    let rest = pieces[at + 1..].iter().take_while(|piece| piece.glued && piece.heading == pieces[at].heading);
    pieces[at].tokens.saturating_add(rest.map(|piece| piece.tokens).sum())
}

/// Goes back from `end` over whole sentences as far as the overlap allows and the next sentence still fits, but past
/// `start`.
fn next_start(pieces: &[Piece], start: usize, end: usize, layer: &Layer) -> usize {
    let Some(following) = pieces.get(end).filter(|following| following.heading == pieces[start].heading) else {
        return end;
    };
    let room = layer.overlap_tokens.min(layer.target_tokens.saturating_sub(following.tokens));
    let (mut next, mut tokens) = (end, 0);
    let fits = |from: usize| following.end - pieces[from].start <= MAX_CHUNK_BYTES;
    while next > start + 1 && tokens + pieces[next - 1].tokens <= room && fits(next - 1) {
        next -= 1;
        tokens += pieces[next].tokens;
    }
    next
}
