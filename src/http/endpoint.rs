//! Give me the address of a server and a body, I give you its reply: with time-outs, retries, rate limits, and a way
//! to stop.

use super::address::{Address, without};
use crate::base::error::{Error, Result};
use reqwest::StatusCode;
use reqwest::blocking::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use serde_json::Value;
use std::io::Read;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

/// Longest wait that a server can ask for.
const MAX_WAIT: Duration = Duration::from_secs(120);
/// Bytes of a server's complaint that are shown.
const SHOWN_BYTES: usize = 300;
/// Bytes of one reply: a server must not fill the memory.
const MAX_REPLY_BYTES: usize = 64 << 20;
/// How often the caller is asked whether to stop.
const POLL: Duration = Duration::from_millis(20);
const READ_BYTES: usize = 16 << 10;
/// How to mend a redirection.
pub(crate) const REDIRECTED: &str = "; if that server may have the key and the documents, take it as the base URL";

/// How to ask.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Patience {
    /// Time for one request.
    pub timeout: Duration,
    /// Tries after the first that failed.
    pub retries: u32,
    /// Wait before the first retry, about; twice as long before each next one, unless the server says.
    pub backoff: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { timeout: Duration::from_secs(120), retries: 5, backoff: Duration::from_millis(500) }
    }
}

/// What to do after a failed request.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// Asking again may help; after so long, if the server said.
    Passing(String, Option<Duration>),
    /// The server refuses this request: its status and complaint.
    Refused(u16, String),
    /// The caller stopped it.
    Stopped,
}

/// What the caller wants during a request.
pub(crate) struct Wishes<'a> {
    pub(crate) cancelled: &'a dyn Fn() -> bool,
    pub(crate) deadline: Option<Instant>,
}

impl Wishes<'_> {
    fn check(&self) -> Result<(), CallFailure> {
        if (self.cancelled)() {
            return Err(CallFailure::Stopped);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(CallFailure::Refused(0, "the time is up".into())),
            _ => Ok(()),
        }
    }
}

/// A server. Its place is shown in errors; its headers and what is secret in its address never are. Nothing is sent
/// anywhere else: it cannot send the key and the documents on.
pub(crate) struct Endpoint {
    client: Client,
    address: Address,
    headers: HeaderMap,
    /// Blacked out in what the server says.
    secrets: Vec<String>,
    patience: Patience,
    /// The server said that it would refuse requests before this.
    not_before: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Endpoint {{ {} }}", self.address.shown())
    }
}

/// What the thread that talks to the server says.
enum Said {
    Head(StatusCode, HeaderMap),
    Bytes(Vec<u8>),
    End,
    Broken(String),
}

impl Endpoint {
    pub(crate) fn new(address: &str, headers: &[(&str, String)], patience: Patience) -> Result<Self> {
        // Another part of the program may have chosen a provider already; then that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let invalid = |what: &str, why: String| Error::invalid(what, why, "check the settings of the model");
        let address = Address::new(address)?;
        let mut secrets = address.secrets();
        let mut client = Client::builder().timeout(patience.timeout).redirect(Policy::none());
        // What is on this machine is for no proxy to see.
        if address.is_local() {
            client = client.no_proxy();
        }
        let client = client.build();
        let client = client.map_err(|error| invalid("the HTTP client", error.to_string()))?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            secrets.extend(value.split(' ').map(str::to_owned));
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| invalid("the key", "it has characters that no header can hold".into()))?;
            value.set_sensitive(true);
            let name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|error| invalid("a header", error.to_string()))?;
            map.insert(name, value);
        }
        Ok(Endpoint { client, address, headers: map, secrets, patience, not_before: Mutex::new(None) })
    }

    pub(crate) fn address(&self) -> &str {
        self.address.shown()
    }

    /// Posts `body` to `path` until it is understood: `start` is called before each try, `each` gets the reply's
    /// bytes as they come, and `end` says what it was.
    pub(crate) fn post<R>(
        &self,
        path: &str,
        body: &Value,
        wishes: &Wishes<'_>,
        reader: &mut R,
    ) -> Result<R::Reply, CallFailure>
    where
        R: ReplyReader,
    {
        let (mut wait, mut tries) = (self.patience.backoff, 0);
        loop {
            self.hold_back(wishes)?;
            reader.start();
            let (why, asked) = match self.try_once(path, body, wishes, reader) {
                Err(CallFailure::Passing(why, asked)) => (why, asked),
                other => return other,
            };
            if tries == self.patience.retries {
                return Err(CallFailure::Refused(0, format!("{why} ({} tries)", tries + 1)));
            }
            tries += 1;
            pause(asked.unwrap_or_else(|| jittered(wait)).min(MAX_WAIT), wishes)?;
            wait = wait.saturating_mul(2).min(MAX_WAIT);
        }
    }

    fn hold_back(&self, wishes: &Wishes<'_>) -> Result<(), CallFailure> {
        let until = *self.not_before.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(wait) if !wait.is_zero() => pause(wait.min(MAX_WAIT), wishes),
            _ => wishes.check(),
        }
    }

    fn try_once<R: ReplyReader>(
        &self,
        path: &str,
        body: &Value,
        wishes: &Wishes<'_>,
        reader: &mut R,
    ) -> Result<R::Reply, CallFailure> {
        let broken = |why: String| CallFailure::Passing(why, None);
        let said = self.talk(path, body);
        let (status, headers) = match next(&said, wishes)? {
            Said::Head(status, headers) => (status, headers),
            Said::Broken(why) => return Err(broken(why)),
            _ => return Err(broken("the server gave no reply".into())),
        };
        self.heed(&headers);
        let (mut length, mut complaint) = (0, Vec::new());
        loop {
            match next(&said, wishes)? {
                Said::Bytes(bytes) => {
                    length += bytes.len();
                    if length > MAX_REPLY_BYTES {
                        return Err(CallFailure::Refused(
                            0,
                            format!("the reply has more than {MAX_REPLY_BYTES} bytes"),
                        ));
                    }
                    match status.is_success() {
                        true => reader.push(&bytes).map_err(broken)?,
                        false => complaint.extend(bytes),
                    }
                }
                Said::End => break,
                Said::Broken(why) if status.is_success() => return Err(broken(why)),
                Said::Broken(_) | Said::Head(..) => break,
            }
        }
        if status.is_success() {
            return reader.end().map_err(broken);
        }
        if status.is_redirection() {
            return Err(self.redirected(status, &headers));
        }
        let complaint = without(String::from_utf8_lossy(&complaint).into_owned(), &self.secrets);
        Err(refused(status, &headers, &complaint))
    }

    /// The failure of a server that sends us elsewhere.
    fn redirected(&self, status: StatusCode, headers: &HeaderMap) -> CallFailure {
        let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let elsewhere = location.and_then(|location| self.address.redirection(location));
        let elsewhere = without(elsewhere.unwrap_or_else(|| "nowhere".to_owned()), &self.secrets);
        let why = format!("the server said {status} and points to {elsewhere}; nothing was sent there");
        CallFailure::Refused(status.as_u16(), why)
    }

    /// Sends in a thread of its own, so that the caller can stop at any time; the thread ends with the request's
    /// time-out.
    fn talk(&self, path: &str, body: &Value) -> Receiver<Said> {
        let (sender, receiver) = sync_channel(16);
        let request = self.client.post(self.address.of_path(path)).headers(self.headers.clone()).json(body);
        std::thread::spawn(move || {
            let shown = |error: reqwest::Error| {
                let (mut why, error) = (String::new(), error.without_url());
                let mut cause: Option<&dyn std::error::Error> = Some(&error);
                while let Some(error) = cause {
                    why.push_str(if why.is_empty() { "" } else { ": " });
                    why.push_str(&error.to_string());
                    cause = error.source();
                }
                why
            };
            let mut response = match request.send() {
                Ok(response) => response,
                Err(error) => return drop(sender.send(Said::Broken(shown(error)))),
            };
            if sender.send(Said::Head(response.status(), response.headers().clone())).is_err() {
                return;
            }
            let mut buffer = vec![0; READ_BYTES];
            loop {
                let said = match response.read(&mut buffer) {
                    Ok(0) => Said::End,
                    Ok(count) => Said::Bytes(buffer[..count].to_vec()),
                    Err(error) => Said::Broken(format!("the connection broke: {}", error.kind())),
                };
                let more = matches!(said, Said::Bytes(_));
                if sender.send(said).is_err() || !more {
                    return;
                }
            }
        });
        receiver
    }

    /// A server that has no requests or tokens left says when it will have some again.
    fn heed(&self, headers: &HeaderMap) {
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        for kind in ["requests", "tokens"] {
            if value(&format!("x-ratelimit-remaining-{kind}")) == Some("0")
                && let Some(wait) = value(&format!("x-ratelimit-reset-{kind}")).and_then(duration)
            {
                let until = Instant::now() + wait.min(MAX_WAIT);
                let mut not_before = self.not_before.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                *not_before = Some(not_before.map_or(until, |known| known.max(until)));
            }
        }
    }

    /// The error for a request that came to nothing.
    pub(crate) fn error(&self, model: &str, failure: CallFailure) -> Error {
        match failure {
            CallFailure::Stopped => Error::Interrupted,
            CallFailure::Passing(why, _) | CallFailure::Refused(0, why) => self.model_error(model, why, ""),
            CallFailure::Refused(401 | 403, why) => self.model_error(model, why, "; the key is missing or wrong"),
            CallFailure::Refused(404, why) => {
                self.model_error(model, why, "; the server does not know the model or the address")
            }
            CallFailure::Refused(300..=399, why) => self.model_error(model, why, REDIRECTED),
            CallFailure::Refused(_, why) => self.model_error(model, why, ""),
        }
    }

    fn model_error(&self, model: &str, why: String, hint: &str) -> Error {
        let mend = "check the address, the model's name and the key".to_owned();
        Error::model(format!("{model} at {}", self.address()), format!("{why}{hint}"), mend)
    }
}

/// Takes a reply in.
pub(crate) trait ReplyReader {
    /// What it makes of it.
    type Reply;
    /// A reply starts, perhaps once more.
    fn start(&mut self);
    /// More bytes; an error if they are no reply.
    fn push(&mut self, bytes: &[u8]) -> Result<(), String>;
    /// The reply is whole.
    fn end(&mut self) -> Result<Self::Reply, String>;
}

fn next(said: &Receiver<Said>, wishes: &Wishes<'_>) -> Result<Said, CallFailure> {
    loop {
        match said.recv_timeout(POLL) {
            Ok(said) => return Ok(said),
            Err(RecvTimeoutError::Timeout) => wishes.check()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(CallFailure::Passing("the connection broke".into(), None));
            }
        }
    }
}

fn pause(wait: Duration, wishes: &Wishes<'_>) -> Result<(), CallFailure> {
    let end = Instant::now() + wait;
    loop {
        wishes.check()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(POLL));
    }
}

/// Half of `wait` to all of it: many clients must not come back at the same moment.
fn jittered(wait: Duration) -> Duration {
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    wait / 2 + (wait / 2).mul_f64(f64::from(nanos % 1000) / 1000.0)
}

fn refused(status: StatusCode, headers: &HeaderMap, text: &str) -> CallFailure {
    let why = format!("the server said {status}: {}", text[..text.floor_char_boundary(SHOWN_BYTES)].trim());
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let asked = value("retry-after-ms")
        .and_then(|value| value.trim().parse().ok().map(Duration::from_millis))
        .or_else(|| value("retry-after").and_then(|value| value.trim().parse().ok().map(Duration::from_secs)));
    let passing = matches!(status.as_u16(), 408 | 409 | 429) || status.is_server_error();
    if passing { CallFailure::Passing(why, asked) } else { CallFailure::Refused(status.as_u16(), why) }
}

/// "1s", "6m0s", "250ms", or seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let (mut total, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |end| digits + end);
        total += number
            * match &rest[digits..unit] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    Duration::try_from_secs_f64(total).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_rate_limits_are_read() {
        for (text, seconds) in [("1s", 1.0), ("6m0s", 360.0), ("250ms", 0.25), ("1h2m3.5s", 3723.5), ("7", 7.0)] {
            assert_eq!(duration(text), Some(Duration::from_secs_f64(seconds)), "{text}");
        }
        for wrong in ["", "s", "1x", "-1", "1e400"] {
            assert!(duration(wrong).is_none_or(|wait| wait.is_zero()), "{wrong}");
        }
    }
}
