//! Give me a draft, I hold it against the evidence and make the answer of it.

use crate::answer::evidence_table::EvidenceTable;
use crate::answer::quotes::{self, linked_names};
use crate::answer::verification::{Verified, verify};
use crate::answer::{Answer, AnswerEvidence, NOTHING, Status};
use crate::base::error::Result;
use crate::controllers::controller::{Draft, Ending};
use crate::driver::Event;
use crate::driver::run::QuestionRun;
use crate::retrieval::evidence::Evidence;
use crate::retrieval::evidence::coverage::Coverage;
use crate::retrieval::question::Question;
use std::rc::Rc;

/// What a failed answer says.
const FAILED: &str = "No answer was found that stands.";

impl QuestionRun<'_, '_> {
    /// Holds the answer against the evidence.
    pub(super) fn finish(mut self, draft: Draft) -> Result<Answer> {
        let snapshot = self.driver.snapshot;
        if let (Ending::Quoted, Some((question, evidence))) = (draft.ending, self.last.take()) {
            return self.quote(&question, &evidence);
        }
        let table = std::mem::take(&mut self.workspace.table);
        let view = std::mem::take(&mut self.workspace.shown);
        let verified = match draft.ending {
            Ending::Answered if !draft.ungrounded => {
                let question = &self.workspace.question;
                verify(snapshot, question, &draft.text, &draft.citations, draft.checked, &view)?
            }
            _ => Verified::default(),
        };
        let status = status(&draft, &verified);
        let cause = draft.cause.or((status == Status::Failed).then(|| self.cause()));
        let Wording { text, plain, reason } = Wording::of(&draft, &verified, status);
        let shown: u64 = table.rows().iter().map(|row| row.tokens).sum();
        let in_loop = self.toolbox.retrieved_tokens();
        self.ledger.retrieved_tokens = if self.toolbox.log().is_empty() { shown } else { in_loop };
        let evidence = answer_evidence(&table, &view, &verified);
        let question = self.asked()?;
        let coverage = Coverage::of(snapshot, &question, evidence.iter().map(|piece| piece.chunk))?;
        let unsure = draft.missing.is_empty() && status != Status::Verified;
        Ok(Answer {
            names: linked_names(snapshot, &question, self.driver.documents)?,
            question: self.workspace.question,
            status,
            text,
            plain,
            reason,
            cause,
            citations: verified.citations,
            claims: verified.claims,
            invalid_citations: verified.invalid,
            evidence,
            missing: if unsure { coverage.missing } else { draft.missing },
            coverage: coverage.share,
            plan: draft.plan,
            preset: self.driver.preset.name.clone(),
            model: self.driver.model.map(|model| model.name().to_owned()),
            stage: self.stage,
            cost: self.ledger,
            trace: self.trace,
        })
    }

    /// Answers with the file's own sentences.
    fn quote(self, question: &Question, evidence: &[Evidence]) -> Result<Answer> {
        let answer =
            quotes::answer(self.driver.snapshot, question, evidence, self.driver.documents, self.driver.quoted_chunks)?;
        if self.driver.stream {
            (self.driver.on_event)(Event::Text(&answer.text));
        }
        let (cost, trace, preset) = (self.ledger, self.trace, self.driver.preset.name.clone());
        Ok(Answer { preset, stage: self.stage, cost, trace, ..answer })
    }

    /// The question that was asked; it is linked here only if nothing was retrieved for it.
    fn asked(&self) -> Result<Rc<Question>> {
        let text = &self.workspace.question;
        match self.questions.iter().find(|(_, question)| question.text == *text) {
            Some((_, known)) => Ok(known.clone()),
            None => Ok(Rc::new(Question::new(&self.view, text)?)),
        }
    }
}

fn status(draft: &Draft, verified: &Verified) -> Status {
    match draft.ending {
        Ending::Answered if draft.text.trim().is_empty() => Status::Failed,
        Ending::Answered if !draft.ungrounded && verified.is_supported() => Status::Verified,
        Ending::Answered => Status::Unverified,
        Ending::Abstained | Ending::Quoted => Status::Abstained,
        Ending::Failed => Status::Failed,
    }
}

/// What an answer says.
struct Wording {
    text: String,
    plain: String,
    reason: Option<String>,
}

impl Wording {
    fn of(draft: &Draft, verified: &Verified, status: Status) -> Self {
        let silent = |text: &str| Wording { text: text.into(), plain: String::new(), reason: draft.reason.clone() };
        match draft.ending {
            Ending::Answered if draft.ungrounded => {
                Wording { text: draft.text.clone(), plain: draft.text.clone(), reason: draft.reason.clone() }
            }
            Ending::Answered => {
                let doubt = (status == Status::Unverified).then_some("the cited bytes do not support every claim");
                let reason = draft.reason.clone().or(doubt.map(str::to_owned));
                Wording { text: verified.text.clone(), plain: verified.plain.clone(), reason }
            }
            Ending::Abstained | Ending::Quoted => silent(NOTHING),
            Ending::Failed => silent(FAILED),
        }
    }
}

/// The evidence with the numbers of the citations that rest on it.
fn answer_evidence(table: &EvidenceTable, view: &EvidenceTable, verified: &Verified) -> Vec<AnswerEvidence> {
    let rows = table.rows().iter().map(|row| {
        let cited = verified.citations.iter().zip(&verified.rows).filter(|(_, number)| **number == row.number);
        AnswerEvidence {
            citations: cited.map(|(citation, _)| citation.number).collect(),
            chunk: row.chunk.chunk,
            document: row.chunk.document.id.clone(),
            score: row.score,
            reason: row.reason,
            path: row.path.clone(),
            shown: view.get(row.number).is_some(),
        }
    });
    rows.collect()
}
