//! Give me the address of a server as somebody wrote it, I say where to send requests, what of it may be shown, and
//! what may not.
//!
//! User, password and query part are credentials: they go to that server, and into no error, trace or file.

use crate::base::error::{Error, Result};
use reqwest::Url;

/// Shorter ones are in every text: to black them out would hide nothing and garble all.
const MIN_SECRET_BYTES: usize = 6;
/// Characters of a foreign address that are shown.
const SHOWN_CHARACTERS: usize = 200;

/// The address of a server.
#[derive(Clone)]
pub(crate) struct Address {
    url: Url,
    shown: String,
}

impl Address {
    pub(crate) fn new(written: &str) -> Result<Self> {
        let invalid = |why: String| {
            let what = format!("the address {:?}", shown(written));
            Error::invalid(what, why, "write it as https://HOST/v1")
        };
        let mut url = Url::parse(written.trim()).map_err(|error| invalid(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(invalid("it is no address of a server for http or https".into()));
        }
        url.set_fragment(None);
        Ok(Address { shown: place(&url), url })
    }

    /// Without user, password and query part.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Where to send what is for `path`. The query part stays behind it, and the user is made a header of by the
    /// client.
    pub(crate) fn of_path(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", self.url.path().trim_end_matches('/')));
        url
    }

    /// Whether it is this machine.
    pub(crate) fn is_local(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Where a redirection leads, without credentials.
    pub(crate) fn redirection(&self, location: &str) -> Option<String> {
        Some(place(&self.url.join(location).ok()?).chars().take(SHOWN_CHARACTERS).collect())
    }

    /// What must not be shown, as it is written and as it is meant.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let login = [self.url.username(), self.url.password().unwrap_or_default()];
        let written = login.into_iter().flat_map(|part| [part.to_owned(), decoded(part)]);
        let query = self.url.query_pairs().map(|(_, value)| value.into_owned());
        written.chain(query).collect()
    }
}

/// An address without user, password and query part, even one that cannot be read.
pub(crate) fn shown(written: &str) -> String {
    match Url::parse(written.trim()) {
        Ok(url) if url.has_host() => place(&url),
        _ => {
            let written = written.split(['?', '#']).next().unwrap_or_default();
            written.rsplit('@').next().unwrap_or_default().chars().take(SHOWN_CHARACTERS).collect()
        }
    }
}

fn place(url: &Url) -> String {
    let mut bare = url.clone();
    // Neither fails: both are only refused where there is no host, and there is none to hide then.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare.set_query(None);
    bare.set_fragment(None);
    bare.as_str().trim_end_matches('/').to_owned()
}

/// Bytes that are written as `%41`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `text` with every one of `secrets` blacked out: a server may repeat what it was sent.
pub(crate) fn without(text: String, secrets: &[String]) -> String {
    let known = secrets.iter().filter(|secret| secret.len() >= MIN_SECRET_BYTES);
    known.fold(text, |text, secret| text.replace(secret.as_str(), "***"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn credentials_are_not_shown(
            scheme in "https?",
            user in "[!-~]{0,12}",
            password in "SECRET[a-zA-Z0-9%+-]{0,8}",
            query in "(\\?key=SECRET[a-z]{0,5})?",
            tail in "(#SECRET)?",
        ) {
            let user: String = user.chars().filter(|c| !"/?#@:\\".contains(*c)).collect();
            for host in ["example.com", "[::1]:80", "127.0.0.1:9", "no host", "host:port"] {
                let written = format!("{scheme}://{user}:{password}@{host}/v1{query}{tail}");
                prop_assert!(!shown(&written).contains("SECRET"), "{}", shown(&written));
                match Address::new(&written) {
                    Ok(address) => {
                        let elsewhere = address.redirection("//a:SECRET@b/c?SECRET#SECRET").unwrap();
                        prop_assert_eq!(&elsewhere, &format!("{}://b/c", scheme));
                        prop_assert!(!address.shown().contains("SECRET"));
                        let said = without(format!("you said {written}"), &address.secrets());
                        prop_assert!(!said.contains(&password) && !said.contains(&decoded(&password)), "{}", said);
                    }
                    Err(error) => prop_assert!(!error.to_string().contains("SECRET"), "{}", error),
                }
            }
        }
    }

    #[test]
    fn paths_go_before_the_query_part() {
        let address = Address::new("https://u:p@example.com/v1/?version=2#x").unwrap();
        assert_eq!(address.of_path("/embeddings").as_str(), "https://u:p@example.com/v1/embeddings?version=2");
        assert_eq!(address.shown(), "https://example.com/v1");
        assert_eq!(Address::new("http://box:80/").unwrap().of_path("/api/chat").as_str(), "http://box/api/chat");
        for (written, local) in [
            ("http://127.8.0.1/v1", true),
            ("http://localhost:8000", true),
            ("http://[::1]:8000", true),
            ("http://localhost.example.com", false),
            ("https://10.0.0.1", false),
        ] {
            assert_eq!(Address::new(written).unwrap().is_local(), local, "{written}");
        }
        for wrong in ["box:11434/v1", "/v1", "", "file:///etc/passwd", "ftp://box/"] {
            assert!(Address::new(wrong).is_err(), "{wrong}");
        }
    }
}
