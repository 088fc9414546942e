//! Give me runs of postings in order of their stems, I keep them in a temporary file and give them back in that
//! order.

use super::posting_run::PostingRun;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// Writes the runs that are not empty into `file`.
pub(super) fn spill<'a>(file: File, runs: impl Iterator<Item = (u32, &'a PostingRun)>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    for (id, run) in runs.filter(|(_, run)| !run.bytes.is_empty()) {
        for number in [id, run.first_chunk, run.last_chunk, run.bytes.len() as u32] {
            out.write_all(&number.to_le_bytes())?;
        }
        out.write_all(&run.bytes)?;
    }
    let mut file = out.into_inner().map_err(|error| error.into_error())?;
    file.rewind()?;
    Ok(file)
}

/// Reads back the runs of one spilled file, in the order in which they were written.
pub(super) struct SpilledRuns {
    file: BufReader<File>,
    next: Option<(u32, PostingRun)>,
}

impl SpilledRuns {
    pub(super) fn open(file: File) -> io::Result<Self> {
        let mut runs = SpilledRuns { file: BufReader::with_capacity(1 << 20, file), next: None };
        runs.read()?;
        Ok(runs)
    }

    fn read(&mut self) -> io::Result<()> {
        let mut head = [0; 16];
        self.next = match self.file.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(error),
            Ok(()) => {
                let number = |at: usize| crate::format::section::u32_at(&head, at);
                let mut run =
                    PostingRun { first_chunk: number(4), last_chunk: number(8), bytes: vec![0; number(12) as usize] };
                self.file.read_exact(&mut run.bytes)?;
                Some((number(0), run))
            }
        };
        Ok(())
    }

    pub(super) fn take(&mut self, id: u32) -> io::Result<Option<PostingRun>> {
        if self.next.as_ref().is_none_or(|(next, _)| *next != id) {
            return Ok(None);
        }
        let taken = self.next.take();
        self.read()?;
        Ok(taken.map(|(_, run)| run))
    }
}
