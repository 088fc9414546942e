//! Layer 2: the network. Give me a request, I give you its reply, or say why there is none.

pub mod endpoint;
