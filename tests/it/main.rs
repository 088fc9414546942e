//! Integration tests, through the public API and the command.

mod adversarial;
mod agent_support;
mod agents;
mod build;
mod chat_protocols;
mod claims;
mod cli;
mod cli_answers;
mod conversations;
mod copies;
mod corrupt;
mod crash;
mod credentials;
mod demo;
mod documents;
mod dump;
mod faulty_place;
mod golden;
mod hand_made;
mod hostile_files;
mod hostile_output;
mod imports;
mod injections;
mod open;
mod operators;
mod outputs;
mod pages;
#[cfg(unix)]
mod private_files;
mod public_items;
mod quality;
mod reading;
mod reads_back;
mod server;
mod shown;
mod system_limits;
mod systems;
mod tenants;
mod tidy;
mod tiny;
mod tools;
mod vectors;
mod verified;

use std::path::PathBuf;

/// The package's folder.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The demo documents as a file in memory.
fn demo_bytes() -> Vec<u8> {
    a2kb::Builder::new().path(root().join("assets/demo")).title("Demo").build_to_memory().unwrap().0
}

/// The demo documents, opened.
fn demo() -> a2kb::KnowledgeBase {
    a2kb::KnowledgeBase::from_bytes(demo_bytes(), a2kb::ChecksumPolicy::default()).unwrap()
}
