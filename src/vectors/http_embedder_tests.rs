//! A local server that speaks the protocol, with its bad days.

use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Answers each request with the next of `plans`, the last one for ever; gives the address and what was asked.
fn serve(plans: Vec<fn(&[String]) -> String>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
            log.lock().unwrap().push(format!("{head}{body}"));
            let reply = plans[number.min(plans.len() - 1)](&texts);
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    (address, asked)
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn rows(texts: &[String], reversed: bool) -> String {
    let mut rows: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| format!(r#"{{"index": {index}, "embedding": [{}, 1.0, 0.5]}}"#, text.len()))
        .collect();
    if reversed {
        rows.reverse();
    }
    format!(r#"{{"data": [{}], "usage": {{"prompt_tokens": {}}}}}"#, rows.join(","), texts.len() * 7)
}

fn good(texts: &[String]) -> String {
    http("200 OK", "", &rows(texts, false))
}

fn reordered(texts: &[String]) -> String {
    http("200 OK", "", &rows(texts, true))
}

fn truncated(texts: &[String]) -> String {
    let whole = good(texts);
    whole[..whole.len() - 20].to_owned()
}

fn too_few(texts: &[String]) -> String {
    http("200 OK", "", &rows(&texts[1..], false))
}

fn limited(_: &[String]) -> String {
    http("429 Too Many Requests", "Retry-After: 0\r\n", "slow down")
}

fn broken(_: &[String]) -> String {
    http("503 Service Unavailable", "", "later")
}

fn forbidden(_: &[String]) -> String {
    http("401 Unauthorized", "", "who are you?")
}

fn settings(address: String) -> HttpEmbedderSettings {
    let mut settings = HttpEmbedderSettings::new(address, "small-model");
    (settings.patience.backoff, settings.batch_texts) = (Duration::from_millis(1), 2);
    settings.api_key = Some("secret-key".into());
    settings
}

fn texts(count: usize) -> Vec<String> {
    (1..=count).map(|length| "x".repeat(length)).collect()
}

#[test]
fn embeds_in_batches_and_counts_tokens() {
    let (address, asked) = serve(vec![good, good, reordered]);
    let embedder = HttpEmbedder::connect(settings(address)).unwrap();
    assert_eq!((embedder.identity().dimension, embedder.identity().name.as_str()), (3, "small-model"));
    let vectors = embedder.embed(&texts(5)).unwrap();
    assert_eq!(vectors.iter().map(|vector| vector[0]).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(embedder.tokens(), 6 * 7);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 4);
    assert!(asked[1].starts_with("POST /v1/embeddings ") && asked[1].contains("Bearer secret-key"));
}

#[test]
fn bad_days_are_waited_out() {
    let (address, asked) = serve(vec![good, limited, broken, truncated, too_few, good]);
    let embedder = HttpEmbedder::connect(settings(address)).unwrap();
    assert_eq!(embedder.embed(&texts(2)).unwrap().len(), 2);
    assert_eq!(asked.lock().unwrap().len(), 6);
}

#[test]
fn lasting_errors_come_at_once_and_hide_the_key() {
    let (address, asked) = serve(vec![good, forbidden]);
    let embedder = HttpEmbedder::connect(settings(address)).unwrap();
    let error = embedder.embed(&texts(1)).unwrap_err();
    assert_eq!(asked.lock().unwrap().len(), 2);
    let shown = format!("{error} {error:?} {embedder:?}");
    assert!(shown.contains("401") && shown.contains("small-model") && !shown.contains("secret-key"), "{shown}");
    let (address, _) = serve(vec![good, broken]);
    let error = HttpEmbedder::connect(settings(address)).unwrap().embed(&texts(1)).unwrap_err();
    assert!(error.to_string().contains("6 tries"), "{error}");
}

#[test]
fn nobody_there_is_an_error() {
    let mut nowhere = settings("http://127.0.0.1:1".into());
    nowhere.patience.retries = 0;
    assert!(HttpEmbedder::connect(nowhere).is_err());
}
