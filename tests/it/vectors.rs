//! Vectors in the file: identity, search by meaning, filters, new vectors, and builds that were killed.

use super::tiny;
use a2kb::{
    Builder, ChecksumPolicy, Document, Embedder, EmbedderRecord, Embedding, Encoding, Error, Filter, FoundBy, Fusion,
    KnowledgeBase, Mode, Preset, SearchRequest,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn documents() -> Vec<Document> {
    let text = |n: usize| {
        format!("Station {n} stands by the river. Its keeper lives in vale {}. The dam is {n} m high.", n % 7)
    };
    (0..60)
        .map(|n| {
            let mut document = Document::plain(format!("s{n}"), Some(format!("Station {n}")), text(n));
            document.fields.metadata = Some(format!(r#"{{"lang":"{}","year":{}}}"#, ["en", "de"][n % 2], 1990 + n));
            document
        })
        .collect()
}

fn build(embedding: Option<Embedding>) -> Vec<u8> {
    let builder = documents().into_iter().fold(Builder::new(), Builder::document);
    let builder = match embedding {
        Some(embedding) => builder.embedding(embedding),
        None => builder,
    };
    builder.build_to_memory().unwrap().0
}

fn open(bytes: Vec<u8>) -> KnowledgeBase {
    KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap()
}

#[test]
fn threads_do_not_change_the_bytes() {
    let one = build(Some(tiny::embedding(1)));
    assert!(one == build(Some(tiny::embedding(2))));
    assert!(one == build(Some(tiny::embedding(1))));
    open(one).verify().unwrap();
}

#[test]
fn a_packed_encoder_answers_where_the_model_is_not() {
    let kb = open(build(Some(tiny::embedding(1))));
    for mode in [Mode::Semantic, Mode::Hybrid] {
        let hits = kb.search("the dam by the river").mode(mode).k(5).run().unwrap().hits;
        assert_eq!(hits.len(), 5);
        assert!(hits.iter().all(|hit| hit.snippets.iter().all(|snippet| hit.chunk.text.contains(snippet.as_str()))));
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    }
    let hit = &kb.search("Station 7").mode(Mode::Hybrid).k(1).run().unwrap().hits[0];
    assert!(hit.ranks.contains_key(&FoundBy::Keyword), "{hit:?}");
}

#[test]
fn graph_and_scan_agree_with_brute_force() {
    for encoding in [Encoding::I8, Encoding::F16, Encoding::F32] {
        let scanned = open(build(Some(Embedding::new(tiny::embedder(1)).encoding(encoding))))
            .with_embedder(tiny::embedder(1))
            .unwrap();
        let query = scanned.query_vector("the keeper of the dam").unwrap();
        let vectors =
            scanned.snapshot().vectors(a2kb::internals::corpus::snapshot::Namespace::Sentence).unwrap().unwrap();
        let mut slow: Vec<(f32, usize)> =
            (0..vectors.len()).map(|row| (vectors.product(&query, row).unwrap(), row)).collect();
        slow.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let fast = a2kb::internals::retrieval::text::semantic::nearest_sentences(scanned.snapshot(), &query, 10, None)
            .unwrap();
        assert_eq!(
            fast.iter().map(|hit| hit.id.index()).collect::<Vec<_>>(),
            slow[..10].iter().map(|hit| hit.1).collect::<Vec<_>>()
        );
    }
}

#[test]
fn filters_hold_in_every_mode() {
    let kb = open(build(Some(tiny::embedding(1))));
    let filter = Filter::field("lang").equals("de").and(Filter::field("year").at_least(2030));
    for mode in [Mode::Keyword, Mode::Exact, Mode::Graph, Mode::Semantic, Mode::Hybrid] {
        let hits = kb.search("Station 41").mode(mode).k(50).filter(filter.clone()).run().unwrap().hits;
        assert!(!hits.is_empty(), "{mode:?}");
        for hit in &hits {
            let number: usize = hit.chunk.document.id[1..].parse().unwrap();
            assert!(number % 2 == 1 && number >= 40, "{mode:?}: {number}");
        }
    }
    let none = Filter::field("year").greater_than(9999);
    assert!(kb.search("station").mode(Mode::Semantic).filter(none).run().unwrap().hits.is_empty());
}

#[test]
fn diversity_and_fusion_are_options() {
    let kb = open(build(Some(tiny::embedding(1))));
    let hybrid = || kb.search("the dam").mode(Mode::Hybrid).k(5).fusion(Fusion::ReciprocalRank);
    let chunks =
        |request: SearchRequest<'_>| request.run().unwrap().hits.iter().map(|hit| hit.chunk.chunk).collect::<Vec<_>>();
    let plain = chunks(hybrid());
    assert_eq!(plain, chunks(hybrid().diversity(1.0)), "all weight on relevance changes nothing");
    assert_eq!(chunks(hybrid().diversity(0.2)).len(), 5);
    assert!(hybrid().diversity(7.0).run().is_err());
    // A page is a part of the whole, with its ranks.
    let page = hybrid().k(2).offset(2).run().unwrap().hits;
    assert_eq!(page.iter().map(|hit| (hit.rank, hit.chunk.chunk)).collect::<Vec<_>>(), [(3, plain[2]), (4, plain[3])]);
    assert!(hybrid().offset(1_000_000).run().unwrap().hits.is_empty());
}

#[test]
fn a_search_does_what_is_asked_or_refuses() {
    let kb = open(build(Some(tiny::embedding(1))));
    let preset = Preset::named("bm25").unwrap();
    let asked = |mode: Mode| kb.search("the dam").mode(mode);
    assert!(asked(Mode::Keyword).k(0).run().is_err());
    assert!(asked(Mode::Keyword).fusion(Fusion::ReciprocalRank).run().is_err());
    assert!(asked(Mode::Semantic).preset(&preset).run().is_err());
    assert!(asked(Mode::Exact).vector(&[]).run().is_err());
    let vector = kb.query_vector("a wall that holds water").unwrap().values().to_vec();
    let without = Preset::named("a2kb/no-vectors").unwrap();
    assert!(asked(Mode::Graph).preset(&without).vector(&vector).run().is_err());
    assert!(asked(Mode::Graph).preset(&preset).run().is_ok());
    assert!(asked(Mode::Hybrid).vector(&vector).run().is_ok());
}

#[test]
fn hits_say_where_they_match() {
    let kb = open(build(Some(tiny::embedding(1))));
    for mode in [Mode::Keyword, Mode::Exact, Mode::Graph, Mode::Semantic, Mode::Hybrid] {
        let hits = kb.search("Station 41").mode(mode).run().unwrap().hits;
        let first = &hits[0];
        let shown = first.matches.iter().map(|range| &first.chunk.text[range.start as usize..range.end as usize]);
        let shown: Vec<String> = shown.map(str::to_lowercase).collect();
        assert!(!shown.is_empty(), "{mode:?}");
        assert!(
            shown.iter().all(|text| ["station", "41", "station 41"].contains(&text.as_str())),
            "{mode:?} {shown:?}"
        );
    }
}

/// A model of any name and dimension.
#[derive(Debug)]
struct Other(EmbedderRecord);

impl Embedder for Other {
    fn identity(&self) -> &EmbedderRecord {
        &self.0
    }
    fn embed(&self, texts: &[String]) -> a2kb::Result<Vec<Vec<f32>>> {
        let value = |text: &String, place: u64| ((text.len() as u64 * 31 + place * 17) % 23) as f32 - 11.0;
        Ok(texts.iter().map(|text| (0..self.0.dimension).map(|place| value(text, place)).collect()).collect())
    }
}

fn other(dimension: u64) -> Arc<Other> {
    Arc::new(Other(EmbedderRecord { name: "other".into(), dimension, ..Default::default() }))
}

#[test]
fn three_mistakes_have_three_errors_and_the_rest_still_works() {
    let bytes = build(Some(Embedding::new(tiny::embedder(1))));
    let mistake = |embedder| open(bytes.clone()).with_embedder(embedder).unwrap_err();
    let error = mistake(other(8));
    assert!(matches!(error, Error::EmbedderDimension { file_dimension: 16, given_dimension: 8, .. }), "{error}");
    let error = mistake(other(16));
    assert!(matches!(error, Error::EmbedderMismatch { .. }), "{error}");
    let kb = open(bytes);
    let error = kb.search("dam").mode(Mode::Semantic).k(3).run().unwrap_err();
    assert!(matches!(error, Error::EmbedderMissing { .. }), "{error}");
    for said in ["tiny", "Embedding::rewrite", "KnowledgeBase::with_embedder"] {
        assert!(error.to_string().contains(said), "{error}");
    }
    assert!(!kb.search("dam").mode(Mode::Keyword).k(3).run().unwrap().hits.is_empty());
    assert!(!kb.search("Station 7").mode(Mode::Graph).k(3).run().unwrap().hits.is_empty());
    let error = open(build(None)).search("dam").mode(Mode::Hybrid).k(3).run().unwrap_err();
    assert!(error.to_string().contains("no vectors"), "{error}");
}

#[test]
fn reembedding_changes_the_vectors_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    std::fs::write(&path, build(Some(tiny::embedding(1)))).unwrap();
    let kb = KnowledgeBase::open(&path).unwrap();
    Embedding::new(other(8)).rewrite(kb.snapshot(), &path, &mut |_| {}, &|| false).unwrap();
    let kb = KnowledgeBase::open(&path).unwrap().with_embedder(other(8)).unwrap();
    kb.verify().unwrap();
    assert_eq!(kb.search("dam").mode(Mode::Semantic).k(3).run().unwrap().hits.len(), 3);
    Embedding::rewrite(&tiny::embedding(1), kb.snapshot(), &path, &mut |_| {}, &|| false).unwrap();
    assert!(std::fs::read(&path).unwrap() == build(Some(tiny::embedding(1))), "and back again gives the same bytes");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no journal is left");
}

#[test]
fn vectors_of_the_caller_can_be_asked() {
    let kb = open(build(Some(Embedding::new(other(8)))));
    let near = |vector: &[f32]| kb.search("").mode(Mode::Semantic).vector(vector).run();
    assert_eq!(near(&[1.0; 8]).unwrap().hits.len(), 10);
    assert!(matches!(near(&[1.0; 9]), Err(Error::EmbedderDimension { .. })));
}

fn command(input: &Path, output: &Path, encoder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a2kb"));
    command.args(["build", "--quiet", "--json"]).arg(input).arg("-o").arg(output).arg("--embedder").arg(encoder);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

#[test]
fn the_command_takes_the_encoder_that_the_environment_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("tiny.a2enc"), tiny::asset()).unwrap();
    std::fs::write(at("in.txt"), "The dam feeds the river.").unwrap();
    assert!(command(&at("in.txt"), &at("tiny.a2kb"), &at("tiny.a2enc")).status().unwrap().success());
    assert!(command(&at("in.txt"), &at("bundled.a2kb"), Path::new("bundled")).status().unwrap().success());
    let search = |file: &str, mode: &str, encoder: Option<PathBuf>| {
        let mut search = Command::new(env!("CARGO_BIN_EXE_a2kb"));
        search.arg("search").arg(at(file)).args(["dam", "--mode", mode]).env_remove("A2KB_ENCODER");
        let output = search.envs(encoder.map(|path| ("A2KB_ENCODER", path))).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = search("tiny.a2kb", "semantic", None);
    assert!(code == 5 && said.contains("--embedder or A2KB_ENCODER"), "{said}");
    assert_eq!(search("tiny.a2kb", "semantic", Some(at("tiny.a2enc"))), (0, String::new()));
    assert_eq!(search("bundled.a2kb", "semantic", Some(at("tiny.a2enc"))), (0, String::new()), "it is for other files");
    assert_eq!(search("tiny.a2kb", "semantic", Some(at("none.a2enc"))).0, 1);
    assert_eq!(search("tiny.a2kb", "keyword", Some(at("none.a2enc"))).0, 0, "words need no encoder");
}

#[test]
fn a_stopped_or_killed_build_embeds_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let encoder = at("tiny.a2enc");
    std::fs::write(&encoder, tiny::asset()).unwrap();
    let lines: Vec<String> = (0..8000)
        .map(|n| {
            let text = format!("The keeper of number {n} walks {n} miles. He is {n} years old.");
            format!(r#"{{"id": "{n}", "title": "Station {n}", "text": "{text}"}}"#)
        })
        .collect();
    std::fs::write(at("in.jsonl"), lines.join("\n")).unwrap();
    let whole = command(&at("in.jsonl"), &at("whole.a2kb"), &encoder).output().unwrap();
    let count = |output: &[u8], field: &str| {
        let report: serde_json::Value = serde_json::from_slice(output).unwrap();
        report["embedding"][field].as_u64().unwrap()
    };
    let (total, equal) = (count(&whole.stdout, "embedded"), count(&whole.stdout, "reused"));
    let journal = at("kb.a2kb.journal");
    for signal in ["-KILL", "-INT"] {
        let mut child = command(&at("in.jsonl"), &at("kb.a2kb"), &encoder).spawn().unwrap();
        // Some rounds are committed once the journal has grown.
        for _ in 0..20_000 {
            if std::fs::metadata(&journal).is_ok_and(|journal| journal.len() > 1_200_000)
                || child.try_wait().unwrap().is_some()
            {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = format!("stopped; what was done so far is kept in {}, and the same command", journal.display());
        assert_eq!(String::from_utf8_lossy(&output.stderr).contains(&said), signal == "-INT", "{output:?}");
        assert!(!at("kb.a2kb").exists() && journal.exists(), "killed in the midst");
        let resumed = command(&at("in.jsonl"), &at("kb.a2kb"), &encoder).output().unwrap();
        let (embedded, reused) = (count(&resumed.stdout, "embedded"), count(&resumed.stdout, "reused"));
        assert_eq!(embedded + reused, total + equal);
        assert!(reused > equal, "{reused} were taken over");
        assert!(std::fs::read(at("kb.a2kb")).unwrap() == std::fs::read(at("whole.a2kb")).unwrap());
        assert!(!journal.exists());
        std::fs::remove_file(at("kb.a2kb")).unwrap();
    }
}

#[test]
fn a_dry_run_says_what_it_would_take_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("kb.a2kb");
    let run = |embedder: &str| -> serde_json::Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_a2kb"));
        command.arg("build").arg(super::root().join("assets/demo")).args([
            "--dry-run",
            "--json",
            "--embedder",
            embedder,
        ]);
        // Nobody listens there: a dry run must not ask.
        command.args(["--embedder-url", "http://127.0.0.1:1/v1", "-o"]).arg(&output);
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    };
    let local = run("bundled");
    assert!(local["documents"].as_u64() == Some(31) && local["embedding_seconds"].as_f64().unwrap() > 0.0, "{local}");
    let http = run("http:some-model");
    assert!(http["price"].as_f64().unwrap() > 0.0 && http["tokens"].as_f64().unwrap() > 100.0, "{http}");
    assert_eq!(run("none")["texts_to_embed"], 0);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn vectors_that_documents_carry_are_searched() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.jsonl"), folder.path().join("given.a2kb"));
    let lines = [
        r#"{"id":"east","title":"East","text":"Where the sun rises.","vector":[3,0,0]}"#,
        r#"{"id":"north","title":"North","text":"Where no sun stands.","vector":[0,0.5,0]}"#,
        r#"{"id":"none","title":"None","text":"Without a vector."}"#,
        r#"{"id":"short","title":"Short","text":"With a vector of another length.","vector":[1,2]}"#,
        r#"{"id":"zero","title":"Zero","text":"With a vector that points nowhere.","vector":[0,0,0]}"#,
        r#"{"id":"again","title":"East","text":"Where the sun rises.","vector":[9,9,9]}"#,
    ];
    std::fs::write(&input, lines.join("\n")).unwrap();
    let report = Builder::new().path(&input).embedding(Embedding::given("my-model")).build(&output).unwrap();
    assert_eq!((report.finished.counts.documents, report.finished.counts.duplicates), (2, 1));
    let reasons: Vec<&str> = report.warnings.iter().map(|warning| warning.reason.as_str()).collect();
    assert!(reasons[0].contains("no vector") && reasons[1].contains("2 values") && reasons[2].contains("zeros"));
    let kb = KnowledgeBase::open(&output).unwrap();
    kb.verify().unwrap();
    for (vector, best) in [([1.0, 0.2, 0.0], "east"), ([0.2, 1.0, 0.0], "north")] {
        let hits = kb.search("").mode(Mode::Semantic).vector(&vector).run().unwrap().hits;
        assert_eq!((hits.len(), hits[0].chunk.document.id.as_str()), (2, best));
        assert!((hits[0].score - 1.0 / 1.04f32.sqrt()).abs() < 0.01, "cosines: {}", hits[0].score);
    }
    let missing = kb.search("sun").mode(Mode::Semantic).k(1).run().unwrap_err();
    assert!(matches!(missing, Error::EmbedderMissing { .. }), "{missing}");
    assert_eq!(kb.search("sun").mode(Mode::Keyword).k(5).run().unwrap().hits.len(), 2);
    assert!(kb.ask("Where does the sun rise?").run().is_ok());
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing else stays behind: {names:?}");
}

#[test]
fn what_a_killed_build_left_behind_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("kb.a2kb");
    let left = ["kb.a2kb.4000000-0.tmp", "kb.a2kb.stage", "kb.a2kb.stage.4000000-1.tmp"];
    let (held, other) = (folder.path().join("kb.a2kb.4000001-0.tmp"), folder.path().join("kb.a2kb.notes.tmp"));
    left.iter()
        .map(|name| folder.path().join(name))
        .chain([other.clone()])
        .for_each(|path| std::fs::write(path, "x").unwrap());
    // The file without vectors gets its name when it is whole; what is no knowledge base is someone else's.
    let staged = folder.path().join("kb.a2kb.stage");
    let builder = || documents().into_iter().fold(Builder::new(), Builder::document).embedding(tiny::embedding(1));
    let error = builder().build(&output).unwrap_err().to_string();
    assert!(error.contains(".stage") && std::fs::read(&staged).unwrap() == b"x", "{error}");
    std::fs::write(&staged, builder().build_to_memory().unwrap().0).unwrap();
    let in_use = std::fs::File::create(&held).unwrap();
    in_use.lock().unwrap();
    builder().build(&output).unwrap();
    assert!(left.iter().all(|name| !folder.path().join(name).exists()));
    assert!(held.exists() && other.exists());
}
