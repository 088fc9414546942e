//! Give me a folded word, I tell you what part it plays in a sentence, as far as the word itself says.
//!
//! English, but for the words that deny or doubt, which are those of seven languages.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// What a word does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// "the", "a": says nothing that is compared.
    Article,
    /// "also", "then", "however": may come and go.
    Filler,
    /// "in", "of".
    Preposition,
    /// Forms of "be".
    Be,
    /// Forms of "have" that help another verb.
    Have,
    /// Forms of "do" that help another verb.
    Do,
    /// "may", "must", "will".
    Modal,
    /// "not", "about", "only", "all": what a sentence says without it is something else.
    Guard,
    /// "if", "unless", "said", "according": what stands beside it may not be so.
    Blocker,
    /// "and", "but".
    And,
    /// "or", "nor".
    Or,
    /// "because", "although": the clause behind it holds, and so does the other.
    Factive,
    /// "when", "that", "than": opens a clause that is not said by itself.
    Opener,
    /// "who", "which".
    Relative,
    /// "he", "it".
    Pronoun,
    /// "his", "its".
    Possessive,
    /// The 's of a name.
    Genitive,
    /// All words with a meaning of their own.
    Content,
    /// A number, with its unit.
    Number,
    /// "first", "2nd".
    Ordinal,
    /// A date with a month.
    Date,
    /// Between the parts of a sentence.
    Comma,
    /// ; : and dashes between words.
    Break,
    /// ( [ and quotation marks.
    Open,
    /// ) ]
    Close,
    /// All other signs.
    Sign,
}

/// Say nothing that is compared.
const ARTICLES: &str = "\
    a an the";
/// May come and go.
const FILLERS: &str = "\
    also then however indeed too there moreover furthermore therefore thus both";
/// Lead a phrase.
const PREPOSITIONS: &str = "\
    of in on at by for from to with during after before since between near within into onto through across \
    along behind beside beyond inside outside over under above below against among around towards toward via \
    as until till without except despite like unlike per about upon off than throughout amid aboard past \
    beneath opposite north south east west";
/// Prepositions whose phrase may be left out: it says of a place, time or manner more than is claimed.
const ADJUNCTS: &str = "\
    of in on at by for from to with during after before since between near into onto through across along \
    behind beside inside outside over above below among around towards toward via as despite upon throughout \
    aboard unlike beneath opposite north south east west";
/// Say that something may, must or will be.
const MODALS: &str = "\
    may might can could must should shall would will ought need cannot";
/// Negation, quantity, degree, doubt, likeness; English first, then de, fr, es, it, nl, pt.
const GUARDS: &str = "\
    not never no nobody nothing none nowhere neither nor hardly barely scarcely rarely seldom without except \
    non un all every everybody everyone everything each any anybody anyone most mostly many much some \
    several few fewer fewest less least more only just sole solely alone exactly about almost nearly roughly \
    approximately around circa ca approx over under above below beyond up half partly partially part parts \
    perhaps maybe probably possibly likely unlikely presumably apparently seemingly potentially initially \
    originally formerly former temporarily theoretically virtually practically officially unofficially ex \
    future would-be planned proposed intended fake false alleged supposed so-called called attempted \
    rumoured rumored unbuilt unfinished deputy vice assistant acting honorary failed fails fail failing \
    refused refuses refuse declined declines tried tries try trying attempts attempt wanted wants want hoped \
    hopes hope hoping planning plans plan intends intend agreed agrees asked asks ordered orders invited \
    forbidden forbade allowed stopped ceased avoid avoids avoided prevented prevents lacks lacked \
    almost-finished twice once again still yet already anymore longer earlier later ago first last next same \
    other another different similar instead rather too even ever own such down out off back away together \
    jointly supposedly nicht kein keine keinen keinem keiner nie niemals niemand nichts kaum fast etwa ohne \
    nur ne n pas jamais aucun aucune personne rien sans presque environ nunca jamas nadie nada ningun \
    ninguna sin casi solo mai nessuno nulla senza quasi niet geen nooit zonder bijna nao ninguem nenhum sem";
/// What is said beside these may not be so.
const BLOCKERS: &str = "\
    if unless whether provided lest suppose supposing assuming according allegedly reportedly supposedly \
    purportedly ostensibly rumour rumours rumor rumors legend myth theory fiction novel dream dreams said \
    say says saying claim claims claimed claiming allege alleges alleged alleging argue argues argued assert \
    asserts asserted believe believes believed think thinks thought suspect suspects suspected suggest \
    suggests suggested deny denies denied denying doubt doubts doubted expect expects expected predict \
    predicts predicted promise promises promised report reports reported announce announces announced state \
    states stated warn warns warned threaten threatened pretend pretended imagine imagined consider \
    considered regarded credit credited credits attributed tell tells told write assume assumed assumes \
    estimate estimated estimates maintain maintains insist insists insisted accuse accused accuses found \
    finds ruled demand demands demanded propose proposes proposed recommend recommended wish wishes wished \
    seem seems seemed appear appears appeared falsely wrongly mistakenly unproven disputed either wenn falls \
    ob laut angeblich sofern si selon segun aunque se secondo als indien volgens segundo salvo sauf ausser";
/// Join two clauses that both hold.
const FACTIVES: &str = "\
    because although though whereas while";
/// Open a clause that is not said by itself.
const OPENERS: &str = "\
    when once that than what how why where whenever wherever so";
/// Open a clause about a noun.
const RELATIVES: &str = "\
    who whom which whose";
/// Stand for a noun.
const PRONOUNS: &str = "\
    he she it they him her them this these those";
/// Say whose.
const POSSESSIVES: &str = "\
    his its their my your our";
/// Verbs in the present that are often met; others are seen by their place alone.
const PRESENT: &str = "\
    hold stand lie run use draw weigh cost last cover carry contain support supply drain flow rise join rule \
    own make give take put employ sell buy build serve connect cross open close belong include consist \
    replace oppose produce provide require allow mean show work live play teach lead begin end start stop \
    reach measure house climb bear award hang nest pay let insure repair exceed update print store call keep \
    need receive operate manage publish protect remain become grow fall lose win overlap blink press bring \
    send find know leave meet turn move pass set feed form face want help switch enter link attract sit go \
    come get see be have do write speak read cut hit grant owe rent visit host burn consume deliver generate \
    drive power";
/// What stands before a name and may be left out.
const TITLES: &str = "\
    mr mrs ms miss dr prof professor sir dame lord lady captain general colonel major lieutenant sergeant \
    admiral mayor president minister judge justice king queen prince princess count countess duke duchess \
    baron baroness bishop father sister brother saint senator governor chancellor inspector engineer \
    architect herr frau monsieur madame don dona";
/// Irregular verbs: the base, then its past forms.
const IRREGULAR: &str = "\
    arise/arose/arisen awake/awoke/awoken become/became begin/began/begun bend/bent bite/bit/bitten \
    bleed/bled blow/blew/blown bear/bore/borne born/born buy/bought bind/bound breed/bred break/broke/broken \
    bring/brought build/built burn/burnt come/came catch/caught choose/chose/chosen cling/clung creep/crept \
    deal/dealt drink/drank/drunk draw/drew/drawn drive/drove/driven dig/dug dwell/dwelt eat/ate/eaten \
    beat/beaten feed/fed fall/fell/fallen feel/felt flee/fled fly/flew/flown forget/forgot/forgotten \
    fight/fought freeze/froze/frozen give/gave/given get/got/gotten grow/grew/grown hide/hid/hidden \
    hang/hung hear/heard hold/held keep/kept kneel/knelt know/knew/known lay/laid lie/lay/lain lead/led \
    leave/left lend/lent light/lit lose/lost make/made mean/meant meet/met pay/paid prove/proven run/ran \
    ring/rang/rung rebuild/rebuilt ride/rode/ridden rise/rose/risen sing/sang/sung sink/sank/sunk sit/sat \
    see/saw/seen send/sent shine/shone shoot/shot shake/shook/shaken shrink/shrank/shrunk sleep/slept \
    slay/slew/slain sell/sold seek/sought speed/sped spend/spent speak/spoke/spoken spring/sprang/sprung \
    steal/stole/stolen stand/stood strike/struck/stricken stick/stuck swear/swore/sworn swim/swam/swum \
    sweep/swept swing/swung teach/taught take/took/taken throw/thrown/threw tear/tore/torn tell/told \
    think/thought understand/understood go/went/gone weep/wept withdraw/withdrew/withdrawn wake/woke/woken \
    win/won wear/wore/worn wind/wound weave/wove/woven write/written/wrote overtake/overtook/overtaken \
    overthrow/overthrew/overthrown undertake/undertook/undertaken withstand/withstood \
    oversee/oversaw/overseen say/said have/had find/found do/done";

fn set_of(words: &'static str) -> FxHashSet<&'static str> {
    words.split(' ').collect()
}

/// What a folded word does, whatever stands around it.
pub(super) fn class_of(folded: &str) -> Class {
    static CLASSES: LazyLock<FxHashMap<&str, Class>> = LazyLock::new(|| {
        let lists = [
            (Class::Possessive, POSSESSIVES),
            (Class::Pronoun, PRONOUNS),
            (Class::Relative, RELATIVES),
            (Class::Opener, OPENERS),
            (Class::Factive, FACTIVES),
            (Class::Guard, GUARDS),
            (Class::Preposition, PREPOSITIONS),
            (Class::Filler, FILLERS),
            (Class::Blocker, BLOCKERS),
            (Class::Modal, MODALS),
            (Class::Article, ARTICLES),
            (Class::And, "and but"),
            (Class::Or, "or"),
            (Class::Be, "is are am was were be been being"),
            (Class::Have, "has have had having"),
            (Class::Do, "do does did"),
            (Class::Possessive, "her"),
            (Class::Opener, "that"),
        ];
        // Of two lists with one word, the later one counts.
        lists.iter().flat_map(|(class, words)| words.split(' ').map(|word| (word, *class))).collect()
    });
    CLASSES.get(folded).copied().unwrap_or(Class::Content)
}

/// Whether the phrase of a preposition may be left out.
pub(super) fn is_adjunct(preposition: &str) -> bool {
    static SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| set_of(ADJUNCTS));
    SET.contains(preposition)
}

/// Whether a word takes its sentence back in any of the languages.
pub(super) fn is_denial(folded: &str) -> bool {
    static SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| &set_of(GUARDS) | &set_of(BLOCKERS));
    SET.contains(folded)
}

/// Titles before names, which may be left out.
pub(super) fn is_title(folded: &str) -> bool {
    static SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| set_of(TITLES));
    SET.contains(folded)
}

/// The base of an irregular past form.
pub(super) fn base_of_past(folded: &str) -> Option<&'static str> {
    static BASES: LazyLock<FxHashMap<&str, &str>> = LazyLock::new(|| {
        let verbs = IRREGULAR.split(' ').filter_map(|verb| verb.split_once('/'));
        verbs.flat_map(|(base, forms)| forms.split('/').map(move |form| (form, base))).collect()
    });
    BASES.get(folded).copied()
}

/// Whether a lower-case word, in a form without "ed", is a verb that is often met.
pub(super) fn is_present_verb(folded: &str) -> bool {
    static SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| set_of(PRESENT));
    let base = |word: &str| SET.contains(word);
    base(folded)
        || folded.strip_suffix('s').is_some_and(base)
        || folded.strip_suffix("es").is_some_and(base)
        || folded.strip_suffix("ies").is_some_and(|stem| base(&format!("{stem}y")))
}

/// Whether a verb's past is its present: "cost", "put".
pub(super) fn has_one_form(key: &str) -> bool {
    const VERBS: &[&str] = &[
        "cost",
        "put",
        "cut",
        "set",
        "hit",
        "let",
        "hurt",
        "shut",
        "spread",
        "split",
        "cast",
        "burst",
        "read",
        "beat",
        "bid",
        "broadcast",
    ];
    VERBS.contains(&key)
}

/// Words of one meaning: the first stands for the others.
const SYNONYMS: &[&[&str]] = &[
    &["finish", "complete"],
    &["build", "construct"],
    &["situate", "locate"],
    &["begin", "start", "commence"],
    &["tall", "high"],
    &["purchase", "buy"],
    &["establish", "found"],
    &["metre", "meter"],
    &["centre", "center"],
    &["almost", "nearly"],
    &["about", "approximately", "roughly", "circa", "ca", "approx"],
];

/// The word by which its synonyms are compared.
pub(super) fn representative(base: &str) -> &str {
    SYNONYMS.iter().find(|words| words.contains(&base)).map_or(base, |words| words[0])
}
