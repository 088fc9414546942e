//! Plugs a language model of your own in, and shows that the file, not the model, says what is verified.
//!
//!     cargo run --example custom_model

use a2kb::models::{CallControl, ChatReply, ChatRequest, Message, Step};
use a2kb::{Builder, ChecksumPolicy, KnowledgeBase, LanguageModel, Result, Status};

/// Says the same whatever it is asked. Yours would hand `request.messages` to a program of this machine.
#[derive(Debug)]
struct Stubborn(&'static str);

impl LanguageModel for Stubborn {
    fn name(&self) -> &str {
        "stubborn"
    }

    fn reply(&self, request: &ChatRequest, _: &mut CallControl<'_>) -> Result<ChatReply> {
        let text = match request.step {
            Step::Check => {
                r#"{"relevant": true, "grounded": true, "adequate": true, "missing": [], "next_query": ""}"#.into()
            }
            _ => format!(r#"{{"answerable": true, "answer": "{}", "citations": [1, 2, 3, 4, 5]}}"#, self.0),
        };
        let shown = request.messages.last().map_or("", Message::content).matches("<evidence ").count();
        println!("  {} with {shown} pieces of evidence", request.step.name());
        Ok(ChatReply::text(request, text))
    }
}

fn main() -> Result<()> {
    let documents = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo");
    let (bytes, _) = Builder::new().path(documents).build_to_memory()?;
    let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default())?;
    for said in ["Castel Noor", "New York"] {
        let model = Stubborn(said);
        println!("the model says {said}:");
        let question = "Where was the designer of the Velm Dam born?";
        let answer = kb.ask(question).model(&model).run()?;
        println!("  {:?}: {}", answer.status, answer.text);
        let quote = answer.citations.iter().find(|citation| citation.quote.contains(said));
        assert_eq!(answer.status == Status::Verified, quote.is_some());
    }
    Ok(())
}
