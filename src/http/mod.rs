//! Layer 2: the network. Give me a request, I give you its reply, or say why there is none.

pub(crate) mod address;
pub mod endpoint;
