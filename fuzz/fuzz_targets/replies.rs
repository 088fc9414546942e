//! Any bytes as what a language model replies to any controller: answers end, typed, with true citations. The same
//! bytes as a document's: what is quoted is read back as it was, and gives no orders the second time either.
#![no_main]

use a2kb::internals::language::language_model::{ChatReply, ToolCall};
use a2kb::internals::language::quotation::{Mark, Material, harmless, quotations};
use a2kb::internals::language::reply::{AnswerStream, object};
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::{Budget, Builder, ChecksumPolicy, Document, Error, KnowledgeBase, Preset};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static KB: LazyLock<KnowledgeBase> = LazyLock::new(|| {
    let document = |id: &str, text: &str| Document::plain(id, Some(id.into()), text);
    let (bytes, _) = Builder::new()
        .document(document("Velm Dam", "The Velm Dam was designed by Tobias Renn. It was finished in 1884."))
        .document(document("Tobias Renn", "Tobias Renn was born in Castel Noor. He designed the Velm Dam."))
        .document(document("Castel Noor", "Castel Noor is a hill town. Its castle was burnt down in 1655."))
        .build_to_memory()
        .unwrap();
    KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap()
});

fuzz_target!(|input: (u8, Vec<(u8, String)>)| {
    let (preset, replies) = input;
    for (_, text) in &replies {
        let once = harmless(text);
        assert_eq!(harmless(&once), once);
        let mut material = Material::default();
        material.quote(Mark::Evidence, Some(7), &[("title", text)], text).ours("\nQuestion: ").theirs(text);
        let read = quotations(material.as_str());
        assert!(read.len() == 1 && read[0].number == Some(7) && read[0].is_whole(text));
    }
    if let Some((_, text)) = replies.first() {
        let _ = object(text);
        let mut stream = AnswerStream::default();
        text.chars().take(500).for_each(|character| drop(stream.push(&character.to_string())));
    }
    let names: Vec<&str> = Preset::names().collect();
    let mut left = replies.into_iter();
    let model = ScriptedModel::new("fuzz", move |request| {
        let failed = || Error::model("fuzz", "no more", "none");
        let (kind, text) = left.next().ok_or_else(failed)?;
        let mut reply = ChatReply::text(request, text.clone());
        if kind % 3 == 0 && !request.tools.is_empty() {
            let name = request.tools[usize::from(kind / 3) % request.tools.len()].name.clone();
            reply.tool_calls = vec![ToolCall { id: String::new(), name, arguments: text }];
        }
        Ok(reply)
    });
    let preset = Preset::named(names[usize::from(preset) % names.len()]).unwrap();
    let mut budget = Budget::default();
    (budget.calls, budget.steps) = (12, 60);
    let question = "Where was the designer of the Velm Dam born?";
    let answer = KB.ask(question).preset(&preset).model(&model).budget(budget).run().unwrap();
    assert!(answer.cost.total.calls <= 12 && answer.trace.len() <= 60);
    for citation in &answer.citations {
        assert_eq!(KB.check_citation(citation).unwrap(), None);
    }
});
