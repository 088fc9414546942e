//! The shape of a desktop tool: a window that never waits, and a thread that answers.
//!
//!     a2kb build assets/demo -o demo.a2kb
//!     cargo run --example desktop demo.a2kb
//!
//! The terminal stands for the window: each line is a question, and a new question stops the one before.

use a2kb::{Event, KnowledgeBase};
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

/// What the window is told.
enum Message {
    Step(String),
    Answer(String),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: desktop FILE.a2kb")?;
    let kb = KnowledgeBase::open(path)?;
    let (ask, questions) = mpsc::channel::<(u64, String)>();
    let (tell, messages) = mpsc::channel();
    // The number of the latest question: whoever works on an older one stops.
    let latest = Arc::new(AtomicU64::new(0));

    let seen = Arc::clone(&latest);
    let worker = std::thread::spawn(move || {
        for (number, question) in questions {
            let stale = || seen.load(Ordering::Relaxed) != number;
            let step = |event: Event<'_>| {
                if let Event::Done(entry) = event {
                    // A window that is gone needs no steps.
                    let _ = tell.send(Message::Step(format!("{}: {}", entry.action.name(), entry.outcome)));
                }
            };
            let text = match kb.ask(&question).on_event(step).cancel(stale).run() {
                Ok(answer) => answer.text,
                Err(error) => format!("cannot answer: {error}"),
            };
            if !stale() && tell.send(Message::Answer(text)).is_err() {
                return;
            }
        }
    });

    let window = std::thread::spawn(move || {
        for message in messages {
            match message {
                Message::Step(text) => println!("  ... {text}"),
                Message::Answer(text) => println!("{text}"),
            }
        }
    });

    for line in std::io::stdin().lock().lines() {
        let number = latest.fetch_add(1, Ordering::Relaxed) + 1;
        ask.send((number, line?))?;
    }
    drop(ask);
    worker.join().map_err(|_| "the worker broke")?;
    window.join().map_err(|_| "the window broke")?;
    Ok(())
}
