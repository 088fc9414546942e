//! Layer 7: controllers. For now the one that needs no model.

pub mod extractive;
