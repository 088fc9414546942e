//! Give me a row, I give you its vector; give me a vector, I give you the rows nearest to it.

pub mod layout;
mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::{Encoding, QueryVector, Vectors};
#[cfg(feature = "build")]
pub use writer::{VectorsWriter, decode_codes, encode_vector};

#[cfg(all(test, feature = "build"))]
mod tests;
