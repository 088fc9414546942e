//! Layer 4: the read view that everything above reads, the builder that owns all index writers, and the checks across
//! sections.

#[cfg(feature = "build")]
pub mod batch;
#[cfg(feature = "build")]
pub mod builder;
#[cfg(feature = "build")]
pub mod contents;
#[cfg(feature = "build")]
pub mod rewriter;
pub mod snapshot;
pub mod verify;
