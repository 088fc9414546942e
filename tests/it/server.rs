//! A local server for tests: give it replies, byte for byte, it plays them and keeps what it was asked.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server does with one request.
pub(super) type Plan = Box<dyn Fn(&Value, &mut TcpStream) + Send + Sync>;

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) head: String,
    pub(super) body: Value,
}

/// A server on a port of its own.
pub(super) struct Server {
    pub(super) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Plays `plans` in order, the last one for ever. It lives as long as the process.
    pub(super) fn new(plans: Vec<Plan>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else { continue };
                log.lock().unwrap().push(request.clone());
                plans[number.min(plans.len() - 1)](&request.body, &mut stream);
            }
        });
        Server { address, asked }
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { head, body: serde_json::from_slice(&body).ok()? })
}

fn head(status: &str, headers: &str, length: usize) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n")
}

/// A whole reply.
pub(super) fn whole(status: &'static str, headers: &'static str, body: impl Into<String>) -> Plan {
    let body = body.into();
    Box::new(move |_, stream| {
        let _ = stream.write_all(format!("{}{body}", head(status, headers, body.len())).as_bytes());
    })
}

/// A good reply.
pub(super) fn good(body: impl Into<String>) -> Plan {
    whole("200 OK", "", body)
}

/// A stream, in pieces that cut lines anywhere; it breaks off after `share` of its bytes.
pub(super) fn stream(body: impl Into<String>, share: f64) -> Plan {
    let body = body.into();
    Box::new(move |_, stream| {
        let _ = stream.write_all(head("200 OK", "Content-Type: text/event-stream\r\n", body.len()).as_bytes());
        let sent = (body.len() as f64 * share) as usize;
        for piece in body.as_bytes()[..sent].chunks(7) {
            let _ = stream.write_all(piece);
            let _ = stream.flush();
        }
    })
}

/// Takes the request and says nothing for so long.
pub(super) fn silence(time: Duration) -> Plan {
    Box::new(move |_, _| std::thread::sleep(time))
}
