#!/usr/bin/env bash
# Builds the command, packs the demo documents into kb.a2kb, and asks it a question.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --release --locked --quiet
target/release/a2kb build assets/demo --title "Demo" -o kb.a2kb
target/release/a2kb ask kb.a2kb "Where was the designer of the Velm Dam born?"
