//! Every command on documents, names, questions and replies that try to steer the terminal of whoever looks: what is
//! printed shows the orders, and `--json` keeps them.

use super::server::{Plan, Server, good, stream};
use a2kb::outputs::steers;
use assert_cmd::Command;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Output;

/// A title, a link and colours for a terminal, in both forms; directions; what is not seen; a line, mark-up.
const ORDERS: &str =
    "\u{1b}]0;own\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200f}\u{feff}\u{e0041}\u{7f}\rX\u{2028}Y\u{8}";
const CHAT: &[u8] =
    b"a line that is \xff no UTF-8\n/nonsense\x1b]0;own\x07\nHow high is the Alva Tower?\n/sources\n/trace\n";
/// A name with all of it, that would begin a line of its own and end an attribute, a label or a tag.
fn name(what: &str) -> String {
    format!("{what}{ORDERS}\nFORGED 9. line\"']]><script>alert(1)</script>&{ORDERS} Tower")
}

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn a2kb(scene: &Scene) -> Command {
    let mut command = Command::cargo_bin("a2kb").unwrap();
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_BASE", "A2KB_MODEL", "A2KB_CACHE", "A2KB_GATE"] {
        command.env_remove(name);
    }
    command.env("A2KB_HOME", scene.folder.path()).current_dir(scene.folder.path());
    command
}

/// Documents whose every part gives orders, as a file.
fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene { folder };
    let line = |number: usize| {
        let (one, other) = (name("Alva"), name("Brenn"));
        json!({ "id": name(&format!("id{number}")), "title": one, "metadata": { name("key"): name("value") },
            "text": format!("The Alva{ORDERS} Tower was built by Mara{ORDERS} Brenn. It is {number}0 metres high."),
            "entities": [one, other, name("Corin")],
            "triples": [[one, format!("leads{ORDERS}\nto"), other], [other, "feeds", name("Corin")]] })
    };
    std::fs::create_dir(scene.path("docs")).unwrap();
    scene.write("docs/lines.jsonl", &format!("{}\n{}\n{{{ORDERS}", line(1), line(2)));
    scene.write(
        "docs/broken.html",
        &format!("<title>T{ORDERS}</title><h1>H{ORDERS}</h1><h2>I&#27;]0;</h2><p>Dam {ORDERS}"),
    );
    scene.write("docs/page.md", &format!("# Alva{ORDERS}\n\n## Head{ORDERS}\n\nThe Alva Dam{ORDERS} is old.\n"));
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let odd = std::ffi::OsStr::from_bytes(b"docs/\x1b]0;own\x07\xc2\x9b31m\xe2\x80\xae\xff.txt");
        std::fs::write(scene.path("docs").parent().unwrap().join(odd), b"not UTF-8: \xff").unwrap();
        let odd = std::ffi::OsStr::from_bytes(b"docs/\x1b[31mfine\n.txt");
        std::fs::write(scene.path("docs").parent().unwrap().join(odd), format!("The Alva Quay {ORDERS} is long."))
            .unwrap();
    }
    scene
}

fn built() -> Scene {
    let scene = scene();
    let output = run(a2kb(&scene).args(["build", "docs", "-o", "kb.a2kb", "--title", &for_argument(&name("Base"))]));
    assert!(output.status.success(), "{output:?}");
    scene
}

/// Arguments cannot hold zeros, and nothing here does.
fn for_argument(text: &str) -> String {
    text.replace('\0', "")
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// Nothing that was printed gives orders, and nothing foreign begins a line.
fn check_shown(output: &Output, what: &str) {
    for stream in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(stream).unwrap_or_else(|error| panic!("{what}: {error}"));
        let found = text.chars().find(|&c| steers(c) && c != '\n' && c != '\t');
        assert_eq!(found, None, "{what}: {text}");
        assert!(!text.lines().any(|line| line.starts_with("FORGED")), "{what}: {text}");
    }
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{what}: {output:?}");
}

/// All strings of a JSON value.
fn strings(value: &Value, found: &mut String) {
    match value {
        Value::String(text) => found.push_str(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            found.push_str(key);
            strings(value, found);
        }),
        _ => {}
    }
}

/// A command, how it is called here, and whether its JSON quotes what strangers wrote.
type Call<'a> = (&'a str, Vec<&'a str>, bool);

/// What commands are called with.
struct Given<'a> {
    one: &'a str,
    other: &'a str,
    unknown: &'a str,
    condition: &'a str,
    question: &'a str,
    questions: &'a str,
    bent: &'a str,
}

fn calls<'a>(given: Given<'a>) -> Vec<Call<'a>> {
    let Given { one, other, unknown, condition, question, questions, bent } = given;
    vec![
        ("build", vec!["docs", "-o", "other.a2kb", "--embedder", "none"], true),
        ("build", vec![unknown, "-o", "none.a2kb"], true),
        ("build", vec!["docs", "-o", "other.a2kb", "--dry-run"], false),
        ("info", vec!["kb.a2kb", "--sections"], true),
        ("info", vec![unknown], true),
        ("search", vec!["kb.a2kb", "tower"], true),
        ("search", vec!["kb.a2kb", "tower", "--full"], true),
        ("search", vec!["kb.a2kb", question, "--mode", "graph", "--explain"], true),
        ("search", vec!["kb.a2kb", one, "--mode", "hybrid"], true),
        ("search", vec!["kb.a2kb", "Tower", "--where", condition], true),
        ("search", vec!["kb.a2kb", "Tower", "--mode", unknown], true),
        ("read", vec!["kb.a2kb", "--document", unknown], true),
        ("reembed", vec!["kb.a2kb", "-o", "again.a2kb"], false),
        ("reembed", vec!["kb.a2kb", "--embedder", unknown], true),
        ("ask", vec!["kb.a2kb", "How high is the Alva Tower?"], true),
        ("ask", vec!["kb.a2kb", question, "--preset", unknown], true),
        ("ask", vec!["kb.a2kb", question], true),
        ("ask", vec!["kb.a2kb", question, "--model", unknown], false),
        ("chat", vec!["kb.a2kb"], true),
        ("cite", vec!["kb.a2kb", "--check", bent], false),
        ("cite", vec!["kb.a2kb", "--check", unknown], true),
        ("calibrate", vec!["kb.a2kb", "--questions", questions], false),
        ("calibrate", vec!["kb.a2kb", "--questions", unknown], true),
        ("verify", vec!["kb.a2kb"], false),
        ("verify", vec![unknown], true),
        (
            "eval retrieval",
            vec!["kb.a2kb", "--questions", questions, "--report", "retrieval.html", "--preset", "a2kb,bm25"],
            false,
        ),
        (
            "eval answers",
            vec!["kb.a2kb", "--questions", questions, "--model", "simulated", "--report", "answers.html"],
            false,
        ),
        ("eval answers", vec!["kb.a2kb", "--questions", questions, "--preset", unknown, "--model", "simulated"], true),
        ("graph neighbors", vec!["kb.a2kb", one], true),
        ("graph neighbors", vec!["kb.a2kb", one, "--relation", unknown], true),
        ("graph paths", vec!["kb.a2kb", one, other], true),
        ("graph bridges", vec!["kb.a2kb", one, other], true),
        ("graph rank", vec!["kb.a2kb", one], true),
        ("graph subgraph", vec!["kb.a2kb", question], true),
        ("entity", vec!["kb.a2kb", one], true),
        ("entity", vec!["kb.a2kb", unknown], true),
    ]
}

/// Every command that `--help` names, below `path`.
fn commands(scene: &Scene, path: &[&str]) -> Vec<String> {
    let output = run(a2kb(scene).args(path).arg("--help"));
    let help = String::from_utf8(output.stdout).unwrap();
    let Some(listed) = help.split("\nCommands:\n").nth(1) else { return vec![path.join(" ")] };
    let names = listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help");
    names.flat_map(|name| commands(scene, &[path, &[name]].concat())).collect()
}

#[test]
fn every_command_shows_orders_and_keeps_them_in_json() {
    let scene = built();
    let (one, other) = (for_argument(&name("Alva")), for_argument(&name("Brenn")));
    let (unknown, condition) = (for_argument(&name("Nobody")), format!("year{ORDERS} ="));
    let question = format!("Who built \"the Alva Tower\" {ORDERS}?");
    let asked = json!({ "id": name("q"), "question": question, "answer": name("Mara"), "gold": [name("id1")],
        "type": name("kind") });
    let questions = scene.write("questions.jsonl", &asked.to_string());
    let answer = run(a2kb(&scene).args(["ask", "kb.a2kb", "How high is the Alva Tower?", "--json"])).stdout;
    let bent = String::from_utf8(answer).unwrap().replace("\"id\": \"", "\"id\": \"\\u001b]0;own\\u0007");
    let bent = scene.write("answer.json", &bent);
    let given = Given {
        one: &one,
        other: &other,
        unknown: &unknown,
        condition: &condition,
        question: &question,
        questions: &questions,
        bent: &bent,
    };
    let calls = calls(given);
    let walked: BTreeSet<String> = calls.iter().map(|call| call.0.to_owned()).chain(["read".to_owned()]).collect();
    assert_eq!(walked, commands(&scene, &[]).into_iter().collect(), "a new command has its call here");
    for (path, arguments, quotes) in &calls {
        let call = |more: &[&str]| {
            let mut command = a2kb(&scene);
            command.args(path.split(' ')).args(arguments).args(more);
            if *path == "chat" {
                command.write_stdin(CHAT);
            }
            run(&mut command)
        };
        let what = format!("{path} {arguments:?}");
        check_shown(&call(&[]), &what);
        let output = call(&["--json"]);
        check_shown(&output, &what);
        let mut kept = String::new();
        for object in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
            strings(&object.unwrap_or_else(|error| panic!("{what}: {error}: {output:?}")), &mut kept);
        }
        // An error may quote as Rust does: that is its text.
        let quoted = kept.contains("a2kb.error") && kept.contains("\\u{1b}]0;own\\u{7}");
        let exact = kept.contains("\u{1b}]0;own\u{7}");
        assert!(!quotes || exact || quoted, "{what} --json loses what it quotes: {kept}");
    }
    for page in ["retrieval.html", "answers.html"] {
        let page = std::fs::read_to_string(scene.path(page)).unwrap();
        assert!(!page.contains("<script") && !page.contains(|c| steers(c) && c != '\n'), "{page}");
    }
    assert!(std::fs::read_to_string(scene.path("answers.html")).unwrap().contains("\\u{1b}]0;own\\u{7}"));
}

#[test]
fn pictures_of_the_graph_are_what_their_readers_read() {
    let scene = built();
    let (one, other) = (for_argument(&name("Alva")), for_argument(&name("Brenn")));
    for (what, entities) in
        [("neighbors", &[&one][..]), ("paths", &[&one, &other]), ("bridges", &[&one, &other]), ("rank", &[&one])]
    {
        let picture = |format: &str| {
            let output = run(a2kb(&scene).args(["graph", what, "kb.a2kb"]).args(entities).args(["--format", format]));
            check_shown(&output, what);
            String::from_utf8(output.stdout).unwrap()
        };
        let graphml = picture("graphml");
        let document =
            roxmltree::Document::parse(&graphml).unwrap_or_else(|error| panic!("{what}: {error}: {graphml}"));
        let names: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        assert!(names.iter().any(|text| text.contains("<script>alert(1)</script>&\\u{1b}]0;own")), "{what}: {names:?}");
        assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
        for line in picture("dot").lines().filter(|line| line.contains("label=")) {
            let label = line.split_once("label=\"").unwrap().1;
            let end = label
                .char_indices()
                .find(|&(at, c)| c == '"' && backslashes(&label[..at]).is_multiple_of(2))
                .unwrap()
                .0;
            assert_eq!(&label[end..], "\"];", "{line}");
        }
        picture("text");
    }
}

fn backslashes(text: &str) -> usize {
    text.len() - text.trim_end_matches('\\').len()
}

#[test]
fn replies_of_models_show_their_orders_whole_and_in_pieces() {
    let scene = built();
    let reply = json!({ "answerable": true, "answer": format!("Mara{ORDERS} Brenn"), "citations": [1],
        "missing": [name("missing")], "next_query": name("next") })
    .to_string();
    let whole = good(
        json!({ "choices": [{ "message": { "role": "assistant", "content": reply },
        "finish_reason": "stop" }], "usage": { "prompt_tokens": 5, "completion_tokens": 2 } })
        .to_string(),
    );
    let mut body = String::new();
    // Character by character: each order comes in pieces.
    for piece in reply.chars() {
        let event = json!({ "choices": [{ "delta": { "content": piece.to_string() }, "finish_reason": null }] });
        body.push_str(&format!("data: {event}\n\n"));
    }
    body.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    let complaint =
        super::server::whole("400 Bad", "", format!("{{\"error\": {{\"message\": {}}}}}", json!(name("no"))));
    for (plan, more) in [(whole, &[][..]), (stream(body, 1.0), &["--stream"]), (complaint, &[])] as [(Plan, &[&str]); 3]
    {
        let server = Server::new(vec![plan]);
        let ask = |json: &[&str]| {
            let mut command = a2kb(&scene);
            command.env("OPENAI_BASE_URL", format!("{}/v1", server.address)).env("OPENAI_API_KEY", "k");
            command.args(["ask", "kb.a2kb", "Who built the Alva Tower?", "--model", "openai:m", "--cache", "off"]);
            run(command.args(["--retries", "0"]).args(more).args(json))
        };
        let output = ask(&[]);
        check_shown(&output, "a reply");
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(told.contains("\\u{1b}]0;own\\u{7}") || told.contains("said 400 Bad Request: {"), "{told}");
        let output = ask(&["--json"]);
        check_shown(&output, "a reply as JSON");
        assert!(serde_json::from_slice::<Value>(&output.stdout).unwrap().to_string().contains("u001b]0;own"));
    }
}

#[test]
fn a_document_is_read_byte_for_byte_where_no_terminal_is() {
    let scene = built();
    let document = for_argument(&name("id1"));
    let read = ["read", "kb.a2kb", "--document", &document];
    let output = run(a2kb(&scene).args(read));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("The Alva{ORDERS} Tower was built by Mara{ORDERS} Brenn. It is 10 metres high.\n")
    );
    let output = run(a2kb(&scene).args(read).arg("--json"));
    check_shown(&output, "read --json");
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(object["text"].as_str().unwrap().contains(ORDERS) && object["document"]["title"] == json!(name("Alva")));
    assert_eq!(object["document"]["metadata"][name("key")], json!(name("value")));
    #[cfg(target_os = "linux")]
    on_a_terminal(&scene, &read);
}

/// The same on a terminal: what arrives there is shown.
#[cfg(target_os = "linux")]
fn on_a_terminal(scene: &Scene, arguments: &[&str]) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).and_then(|()| unlockpt(&ours)).unwrap();
    let theirs = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = std::fs::OpenOptions::new().read(true).write(true).open(theirs).unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("a2kb"))
        .current_dir(scene.folder.path())
        .args(arguments)
        .stdout(theirs)
        .spawn()
        .unwrap();
    assert!(child.wait().unwrap().success());
    let (mut seen, mut terminal) = (vec![0; 1 << 16], std::fs::File::from(ours));
    let length = terminal.read(&mut seen).unwrap();
    // The terminal makes CR LF of line ends by itself.
    let text = String::from_utf8(seen[..length].to_vec()).unwrap().replace("\r\n", "\n");
    assert!(text.contains("\\u{1b}]0;own\\u{7}") && !text.contains(|c| steers(c) && c != '\n'), "{text}");
}
