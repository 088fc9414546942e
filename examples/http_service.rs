//! Answers questions over HTTP with a handful of threads, all of which share one open file.
//!
//!     a2kb build assets/demo -o demo.a2kb
//!     cargo run --example http_service demo.a2kb
//!     curl 'http://127.0.0.1:8600/ask?q=Where+was+the+designer+of+the+Velm+Dam+born'
//!
//! It is a sketch to copy from: a service for the open network stands behind a proxy that limits who may ask how
//! often.

use a2kb::KnowledgeBase;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

const THREADS: usize = 4;
const MAX_REQUEST_BYTES: u64 = 8 << 10;
const TIMEOUT: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: http_service FILE.a2kb")?;
    // Opening reads one page, and asking needs no lock: threads share the file as it is.
    let kb = Arc::new(KnowledgeBase::open(path)?);
    let listener = Arc::new(TcpListener::bind("127.0.0.1:8600")?);
    println!("http://{}/ask?q=...", listener.local_addr()?);
    let threads = (0..THREADS).map(|_| {
        let (kb, listener) = (Arc::clone(&kb), Arc::clone(&listener));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // Whoever hangs up or says nothing costs this thread a few seconds, no more.
                let _ = stream.and_then(|stream| serve(&kb, stream));
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().map_err(|_| "a thread broke")?;
    }
    Ok(())
}

fn serve(kb: &KnowledgeBase, mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.try_clone()?.take(MAX_REQUEST_BYTES)).read_line(&mut line)?;
    let (status, body) = match line.strip_prefix("GET /ask?q=").and_then(|rest| rest.split(' ').next()) {
        Some(question) => match kb.ask(&decoded(question)).run() {
            Ok(answer) => ("200 OK", serde_json::json!(answer)),
            Err(error) => ("500 Internal Server Error", serde_json::json!({ "error": error.to_string() })),
        },
        None => ("404 Not Found", serde_json::json!({ "error": "ask by GET /ask?q=QUESTION" })),
    };
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    write!(stream, "{head}Connection: close\r\n\r\n{body}")
}

/// A question as it stands in an address: `+` for a space, `%20` for a byte.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, behind @ ..] = rest {
        let code = behind.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%');
        rest = if code.is_some() { &behind[2..] } else { behind };
        bytes.push(match (code, *first) {
            (Some(byte), _) => byte,
            (None, b'+') => b' ',
            (None, other) => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
