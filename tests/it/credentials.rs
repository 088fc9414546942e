//! Keys, passwords and documents go to the server that was named, and stand in no error, trace or file.

use super::root;
use super::server::{Plan, Server, good, whole};
use a2kb::internals::language::chat::{ChatClient, ModelSettings};
use a2kb::internals::language::language_model::{CallControl, ChatRequest, LanguageModel, Message, Step, Streamed};
use a2kb::{Error, HttpEmbedder, HttpEmbedderSettings};
use std::io::Write;
use std::time::Duration;

const KEY: &str = "sk-very-secret-key";
const PROMPT: &str = "A document that nobody else may see.";
const STATUSES: [&str; 7] = [
    "300 Multiple Choices",
    "301 Moved Permanently",
    "302 Found",
    "303 See Other",
    "304 Not Modified",
    "307 Temporary Redirect",
    "308 Permanent Redirect",
];
const OPEN_AI: &str = r#"{"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}]}"#;

/// Sends every request on to `location`.
fn moved(status: &'static str, location: String) -> Plan {
    Box::new(move |_, stream| {
        let head =
            format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let _ = stream.write_all(head.as_bytes());
    })
}

fn settings(name: &str, address: &str) -> ModelSettings {
    let variable = |wanted: &str| match wanted {
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" => Some(KEY.to_owned()),
        wanted if wanted.ends_with("URL") || wanted.ends_with("HOST") => Some(address.to_owned()),
        _ => None,
    };
    let mut settings = ModelSettings::new(name, &variable).unwrap();
    (settings.patience.backoff, settings.patience.retries) = (Duration::from_millis(1), 2);
    settings
}

fn ask(settings: ModelSettings, streamed: bool) -> a2kb::Result<String> {
    let request = ChatRequest::new(Step::Answer, vec![Message::user(PROMPT)], 50);
    let mut on_text = |_: Streamed<'_>| {};
    let mut control = CallControl::default();
    if streamed {
        control.on_text = Some(&mut on_text);
    }
    Ok(ChatClient::new(settings)?.reply(&request, &mut control)?.text)
}

fn embedder_settings(address: &str) -> HttpEmbedderSettings {
    let mut settings = HttpEmbedderSettings::new(address, "small");
    settings.api_key = Some(KEY.into());
    (settings.patience.backoff, settings.patience.retries) = (Duration::from_millis(1), 2);
    settings
}

#[test]
fn a_redirection_takes_neither_key_nor_prompt_to_another_host() {
    for status in STATUSES {
        let other = Server::new(vec![good(OPEN_AI)]);
        let elsewhere = other.address.replace("127.0.0.1", "localhost");
        let with_secrets = elsewhere.replace("http://", "http://bob:hunter22@") + "/moved?token=hunter22#hunter22";
        let mut errors: Vec<(String, Server)> = Vec::new();
        for name in ["openai:m", "anthropic:m", "ollama:m"] {
            for streamed in [false, true] {
                let first = Server::new(vec![moved(status, with_secrets.clone())]);
                let failed = ask(settings(name, &first.address), streamed).unwrap_err();
                assert!(matches!(failed, Error::Model { .. }), "{name}");
                errors.push((failed.to_string(), first));
            }
        }
        let first = Server::new(vec![moved(status, with_secrets)]);
        errors.push((HttpEmbedder::connect(embedder_settings(&first.address)).unwrap_err().to_string(), first));
        for (error, first) in errors {
            assert_eq!(first.asked().len(), 1, "{status} is no passing failure");
            assert!(error.contains(&format!("points to {elsewhere}/moved;")) && error.contains("base URL"), "{error}");
            assert!(!error.contains("hunter22") && !error.contains(KEY), "{error}");
        }
        assert!(other.asked().is_empty(), "{status}: {:?}", other.asked());
    }
}

#[test]
fn a_redirection_that_leads_nowhere_is_told() {
    for location in ["http://[broken", "mailto:me", ""] {
        let first = Server::new(vec![moved("302 Found", location.into())]);
        let error = ask(settings("m", &first.address), false).unwrap_err().to_string();
        assert!(error.contains("302") && error.contains("nothing was sent there"), "{error}");
    }
}

#[test]
fn user_and_password_of_an_address_go_to_its_server_and_are_shown_nowhere() {
    let secret = |address: &str| address.replace("http://", "http://wilhelm:pass%20w0rd@") + "?code=hidden-code";
    let hidden = ["wilhelm", "pass%20w0rd", "pass w0rd", "hidden-code", "d2lsaGVsbTpwYXNzIHcwcmQ=", KEY];
    let check = |shown: &str| {
        let found = hidden.iter().find(|secret| shown.contains(**secret));
        assert!(found.is_none(), "{found:?} is shown: {shown}");
    };
    for name in ["openai:m", "anthropic:m", "ollama:m"] {
        // The server says again all that it was told.
        let key = if name == "ollama:m" { "" } else { KEY };
        let parrot: Plan = Box::new(move |_, stream| {
            let told = format!("no: wilhelm pass%20w0rd pass w0rd hidden-code {key}");
            let length = told.len();
            let head =
                format!("HTTP/1.1 400 Bad Request\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{told}");
            let _ = stream.write_all(head.as_bytes());
        });
        let server = Server::new(vec![parrot]);
        let settings = settings(name, &secret(&server.address));
        check(&format!("{settings:?} {:?}", ChatClient::new(settings.clone()).unwrap()));
        let failed = ask(settings, false).unwrap_err();
        check(&format!("{failed} {failed:?}"));
        let head = &server.asked()[0].head;
        assert!(head.lines().next().unwrap().ends_with("?code=hidden-code HTTP/1.1"), "{head}");
        // A key takes the place of a user where both need the same header.
        let basic = head.contains("Basic d2lsaGVsbTpwYXNzIHcwcmQ=");
        assert_eq!(basic, name != "openai:m", "{head}");
        // Nobody there, no protocol, no address at all.
        for wrong in ["http://wilhelm:pass%20w0rd@127.0.0.1:9", "wilhelm:pass%20w0rd@box", "x://wilhelm:pass w0rd@b"] {
            let mut nowhere = self::settings(name, "http://127.0.0.1:9");
            (nowhere.base_url, nowhere.patience.retries) = (wrong.into(), 0);
            let failed = ask(nowhere, false).unwrap_err();
            check(&format!("{failed} {failed:?}"));
        }
    }
    let server = Server::new(vec![whole("403 Forbidden", "", "wilhelm, hidden-code is wrong")]);
    let settings = embedder_settings(&secret(&server.address));
    check(&format!("{settings:?}"));
    let failed = HttpEmbedder::connect(settings).unwrap_err();
    check(&format!("{failed} {failed:?}"));
}

#[test]
fn the_command_shows_no_credentials_of_an_address() {
    let server = Server::new(vec![whole("404 Not Found", "", "no such model")]);
    let address = server.address.replace("http://", "http://wilhelm:pass%20w0rd@") + "/v1?code=hidden-code";
    let folder = tempfile::tempdir().unwrap();
    let kb = root().join("tests/golden/v1/demo.a2kb").display().to_string();
    for arguments in [
        vec!["build", "--help"],
        vec!["reembed", "--help"],
        vec!["ask", &kb, "Who?", "--model", "openai:m", "--json", "--trace", "trace.json"],
        vec!["ask", &kb, "Who?", "--model", "openai:m", "--base-url", &address, "--record", "record.jsonl"],
        vec!["ask", &kb, "Who?", "--model", "openai:m", "--base-url", &address, "--no-such-flag"],
        vec!["reembed", &kb, "-o", "made.a2kb", "--embedder", "http:m", "--embedder-url", &address],
    ] {
        let mut command = assert_cmd::Command::cargo_bin("a2kb").unwrap();
        command.current_dir(folder.path()).env("A2KB_HOME", folder.path()).env("OPENAI_API_KEY", KEY);
        let output = command.env("OPENAI_BASE_URL", &address).args(&arguments).output().unwrap();
        let mut shown = format!("{output:?}");
        for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
            shown.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap_or_default()));
        }
        for hidden in ["wilhelm", "pass%20w0rd", "pass w0rd", "hidden-code", KEY] {
            assert!(!shown.contains(hidden), "{hidden} of {arguments:?}: {shown}");
        }
    }
    assert!(!server.asked().is_empty());
}
