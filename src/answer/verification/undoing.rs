//! Give me a sentence and a claim, I say whether the sentence has a word beside the claim that may take the claim back:
//! what is so in a film, in somebody's opinion, on paper or with an exception is not simply so.
//!
//! Such words stand anywhere in a sentence and in any grammar, so no rule says what they belong to: where one is left
//! out, the claim is not supported.

use crate::base::text::for_each_token;

/// Folded; a word of the claim takes nothing back.
const UNDOING: &[&str] = &[
    // Denied afterwards.
    "false",
    "falsely",
    "untrue",
    "true",
    "hoax",
    "lie",
    "lies",
    "lied",
    "fake",
    "fabricated",
    "wrong",
    "wrongly",
    "error",
    "mistake",
    "mistaken",
    "mistakenly",
    "rumour",
    "rumours",
    "rumor",
    "rumors",
    "myth",
    "gossip",
    "reject",
    "rejected",
    "refuted",
    "disputed",
    "denied",
    "annulled",
    "cancelled",
    "retracted",
    "withdrawn",
    "overturned",
    "so",
    "fact",
    "instead",
    // Not of this world.
    "film",
    "novel",
    "opera",
    "play",
    "story",
    "tale",
    "legend",
    "fiction",
    "fictional",
    "poem",
    "song",
    "dream",
    "alternate",
    "parallel",
    "universe",
    "imaginary",
    "forged",
    "forgery",
    "propaganda",
    "simulation",
    "simulations",
    "simulated",
    "exercise",
    "drill",
    "rehearsal",
    "game",
    "jest",
    "joke",
    "satire",
    "sake",
    "argument",
    "hypothetical",
    "paper",
    "draft",
    "design",
    "designs",
    "original",
    "plan",
    "plans",
    "name",
    "theory",
    "principle",
    "column",
    "headline",
    "rendering",
    "scenario",
    "demo",
    "test",
    // Somebody says so.
    "opinion",
    "view",
    "words",
    "eyes",
    "critics",
    "boasted",
    "advertised",
    "proclaimed",
    "presumed",
    "supposed",
    "supposedly",
    "declared",
    "wrote",
    "read",
    // Only then.
    "absence",
    "exception",
    "except",
    "condition",
    "pending",
    "subject",
    "event",
    "emergency",
    "mode",
    "provided",
    "unless",
    "until",
    "after",
    "respectively",
    "respective",
    // Other languages.
    "legende",
    "roman",
    "marchen",
    "gerucht",
    "geruchte",
    "angeblich",
    "falsch",
    "faux",
    "fausse",
    "parait",
    "rumeur",
    "legenda",
    "falso",
    "falsa",
    "leyenda",
    "rumor",
    "novela",
    "leggenda",
    "romanzo",
    "lenda",
    "verhaal",
    "roddel",
];

/// Whether `sentence` has one of these words that `claim` has not.
pub(super) fn may_be_taken_back(sentence: &str, claim: &str) -> bool {
    let mut said: Vec<String> = Vec::new();
    for_each_token(claim, |_, folded| said.push(folded.to_owned()));
    let mut found = false;
    for_each_token(sentence, |_, folded| {
        found |= UNDOING.contains(&folded) && !said.iter().any(|word| word == folded);
    });
    found
}

#[cfg(test)]
mod tests {
    use super::may_be_taken_back;

    #[test]
    fn a_word_beside_the_claim_takes_it_back() {
        let claim = "Mira Toll built the mill in 1905.";
        for left_out in [", which is false", " in the film", ", a hoax", " on paper", ", a legend"] {
            assert!(may_be_taken_back(&claim.replace('.', &format!("{left_out}.")), claim), "{left_out}");
        }
        assert!(!may_be_taken_back("In May Mira Toll built the mill in 1905 near Lund.", claim));
        assert!(!may_be_taken_back("The film was shot in Lund in May.", "The film was shot in Lund."));
    }
}
