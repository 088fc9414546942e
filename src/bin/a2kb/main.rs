//! The command.
fn main(){}
