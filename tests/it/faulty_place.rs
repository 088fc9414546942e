//! Give me a place and an operation, I give you the same place, which fails or tears that operation and all after it.

use a2kb::internals::storage::backend::{Backend, Place};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a crash may do to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It and all after it fail without effect.
    Fail,
    /// A write puts down only half of its bytes; all after it fail.
    Tear,
}

#[derive(Debug)]
struct Plan {
    operations: AtomicUsize,
    fault: Option<(usize, Fault)>,
}

impl Plan {
    /// Counts an operation and says what becomes of it.
    fn next(&self) -> Option<Fault> {
        let number = self.operations.fetch_add(1, Ordering::SeqCst);
        let (at, fault) = self.fault?;
        if number == at { Some(fault) } else { (number > at).then_some(Fault::Fail) }
    }

    fn whole(&self) -> io::Result<()> {
        self.next().map_or(Ok(()), |_| Err(injected()))
    }
}

fn injected() -> io::Error {
    io::Error::other("injected fault")
}

/// A place that breaks at a chosen operation. Clones count together.
#[derive(Clone, Debug)]
pub(super) struct FaultyPlace<P> {
    place: P,
    plan: Arc<Plan>,
}

impl<P: Place> FaultyPlace<P> {
    /// Breaks `place` at the operation of this number, counted from 0.
    pub(super) fn new(place: P, fault: Option<(usize, Fault)>) -> Self {
        FaultyPlace { place, plan: Arc::new(Plan { operations: AtomicUsize::new(0), fault }) }
    }

    /// Operations so far.
    pub(super) fn operations(&self) -> usize {
        self.plan.operations.load(Ordering::SeqCst)
    }
}

/// A file of a [`FaultyPlace`].
#[derive(Debug)]
pub(super) struct FaultyFile<F> {
    file: F,
    plan: Arc<Plan>,
}

impl<F: Backend> Backend for FaultyFile<F> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.plan.next() {
            None => self.file.write_at(offset, bytes),
            Some(Fault::Fail) => Err(injected()),
            Some(Fault::Tear) => {
                self.file.write_at(offset, &bytes[..bytes.len() / 2])?;
                Err(injected())
            }
        }
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.plan.whole()?;
        self.file.sync()
    }
}

impl<P: Place> Place for FaultyPlace<P> {
    type File = FaultyFile<P::File>;

    fn create(&self) -> io::Result<Self::File> {
        self.plan.whole()?;
        Ok(FaultyFile { file: self.place.create()?, plan: self.plan.clone() })
    }

    fn publish(&self, file: Self::File) -> io::Result<()> {
        self.plan.whole()?;
        self.place.publish(file.file)?;
        // The flush of the folder: the new name is already visible when it fails.
        self.plan.whole()
    }
}
