use super::*;
use crate::corpus::builder::method;

fn spans(sentence: &str) -> Vec<String> {
    let mut words = SentenceWords::default();
    words.cut(sentence);
    capitalised_spans(sentence, &words).into_iter().map(|span| words.key(span.words)).collect()
}

#[test]
fn spans_are_names() {
    assert_eq!(
        spans("The Beatles met J. K. Rowling in the University of East Anglia in May 1999."),
        ["beatles", "j k rowling", "university of east anglia"]
    );
    assert_eq!(
        spans("In London, Charles de Gaulle's aide saw Apollo 11."),
        ["london", "charles de gaulle", "apollo 11"]
    );
    assert_eq!(spans("It was on Monday that NASA won."), ["nasa"]);
    assert_eq!(spans("nothing here, I think"), Vec::<String>::new());
}

#[test]
fn confidence_follows_its_signals() {
    let mut words = SentenceWords::default();
    let sentence = "Ada Lovelace met Bob beside the river, and later Carol.";
    words.cut(sentence);
    let spans = capitalised_spans(sentence, &words);
    assert!(spans[0].confidence > spans[1].confidence && spans[1].confidence > spans[2].confidence);
    assert_eq!(spans[0].confidence, 255);
}

#[test]
fn acronyms_are_initials() {
    for (sentence, expected) in [
        ("The World Health Organization (WHO) said so.", Some("WHO")),
        ("The Bank of England (BOE) said so.", Some("BOE")),
        ("The Bank of England (BE) said so.", Some("BE")),
        ("The Bank of England (XYZ) said so.", None),
    ] {
        let mut words = SentenceWords::default();
        words.cut(sentence);
        let spans = capitalised_spans(sentence, &words);
        assert_eq!(acronym_after(sentence, &words, &spans[0]), expected);
    }
}

#[test]
fn four_patterns_state_facts() {
    let names = ["ada", "bob", "carol", "paris", "france", "engine", "her"];
    let mut trie = NameTrie::new(names.len());
    names.iter().zip(0..).for_each(|(name, id)| trie.insert(name, id));
    trie.allow_any_case(5);
    let mut recogniser = Recogniser::new(&trie);
    let sentences = [
        ("Ada is an Engine.", vec![(0, "is_a", 5, method::COPULA, 0.90)]),
        ("Ada's brother Bob ran.", vec![(0, "has_brother", 1, method::POSSESSION, 0.85)]),
        ("Ada has an engine.", vec![(0, "has", 5, method::POSSESSION, 0.85)]),
        (
            "Ada married Bob and Carol.",
            vec![(0, "married", 1, method::VERB, 0.80), (0, "married", 2, method::VERB, 0.80)],
        ),
        ("Ada is a picture painted by Bob.", vec![(0, "painted_by", 1, method::VERB, 0.80)]),
        ("Paris is the capital of France.", vec![(3, "capital_of", 4, method::PREPOSITION, 0.75)]),
        ("Ada in Paris", vec![(0, "located_in", 3, method::PREPOSITION, 0.75)]),
        ("She met Carol.", vec![(1, "met", 2, method::VERB, 0.80)]),
        ("Her friend saw nothing of Ada, who much later, it is said by some people of the town, Bob.", vec![]),
    ];
    let mut got = Vec::new();
    for (sentence, _) in &sentences {
        got.push(recogniser.read(sentence, Some(1)).statements);
    }
    let relations = recogniser.into_relations();
    for (found, (sentence, expected)) in got.iter().zip(&sentences) {
        let found: Vec<_> = found
            .iter()
            .map(|s| (s.subject, relations[s.relation as usize].as_str(), s.object, s.method, s.confidence))
            .collect();
        let expected: Vec<_> = expected.iter().map(|&(s, r, o, m, c)| (s, r, o, m, (c * 255.0f32) as u8)).collect();
        assert_eq!(found, expected, "{sentence}");
    }
}

#[test]
fn mentions_are_longest_matches() {
    let mut trie = NameTrie::new(4);
    for (key, entity) in [("new york", 0), ("new york city", 1), ("city", 2), ("york", 3)] {
        trie.insert(key, entity);
    }
    let mut recogniser = Recogniser::new(&trie);
    assert_eq!(recogniser.read("New York City and New York are not York.", None).entities, [0, 1, 3]);
    assert_eq!(recogniser.read("the city of new york", None).entities, Vec::<u32>::new());
    assert_eq!(recogniser.read("In the City it rains.", None).opening, [2]);
}
