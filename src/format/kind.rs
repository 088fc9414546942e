//! Give me a section's number, I give you its name, and whether every file has it (chapter 3 of the specification).

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $label:literal;)*) => {
        /// The kinds of sections that this version knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Kind {
            $($(#[$doc])* $name = $number,)*
        }

        impl Kind {
            /// All kinds, by number.
            pub const ALL: &[Kind] = &[$(Kind::$name),*];

            /// The kind with this number.
            pub fn from_number(number: u16) -> Option<Kind> {
                match number { $($number => Some(Kind::$name),)* _ => None }
            }

            /// Name in the specification.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$name => $label,)* }
            }
        }
    };
}

kinds! {
    /// Who made the file, and how.
    Manifest = 1, "MANIFEST";
    /// All short strings.
    Strings = 2, "STRINGS";
    /// One row a document.
    Documents = 3, "DOCUMENTS";
    /// Inputs that were already there.
    Duplicates = 4, "DUPLICATES";
    /// Tree of headings.
    Headings = 5, "HEADINGS";
    /// One row a sentence.
    Sentences = 6, "SENTENCES";
    /// Layers and chunks.
    Chunks = 7, "CHUNKS";
    /// Compressed text.
    TextBlocks = 8, "TEXT_BLOCKS";
    /// Where each block lies.
    TextIndex = 9, "TEXT_INDEX";
    /// Term to ordinal.
    Terms = 10, "TERMS";
    /// Ordinal to chunks.
    Postings = 11, "POSTINGS";
    /// Where each posting list lies, and the chunks' lengths.
    PostingsIndex = 12, "POSTINGS_INDEX";
    /// One row an entity.
    Entities = 13, "ENTITIES";
    /// Name to entity.
    EntityNames = 14, "ENTITY_NAMES";
    /// Entities that share a name.
    EntityNameSets = 15, "ENTITY_NAME_SETS";
    /// Other names of an entity.
    EntityAliases = 16, "ENTITY_ALIASES";
    /// Relation types.
    Relations = 17, "RELATIONS";
    /// One row a fact.
    Facts = 18, "FACTS";
    /// Sentences a fact stands in.
    FactSources = 19, "FACT_SOURCES";
    /// Where each subject's facts start.
    SubjectFacts = 20, "SUBJECT_FACTS";
    /// Facts of each object.
    ObjectFacts = 21, "OBJECT_FACTS";
    /// Entities a sentence names.
    SentenceEntities = 22, "SENTENCE_ENTITIES";
    /// Sentences that name an entity.
    EntitySentences = 23, "ENTITY_SENTENCES";
    /// Entities a chunk is about.
    ChunkAbout = 24, "CHUNK_ABOUT";
    /// Chunks that are about an entity.
    EntityAbout = 25, "ENTITY_ABOUT";
    /// Vectors of one namespace.
    Vectors = 32, "VECTORS";
    /// Neighbour graph over the vectors of one namespace.
    Hnsw = 33, "HNSW";
    /// Which model made the vectors.
    Embedder = 34, "EMBEDDER";
    /// The weights of that model.
    Encoder = 35, "ENCODER";
    /// Edges between entities of like names.
    Synonyms = 38, "SYNONYMS";
    /// Metadata of inputs that were already there.
    DuplicateMetadata = 41, "DUPLICATE_METADATA";
}

impl Kind {
    /// Whether a file may lack it, and a reader that does not know it skips it.
    pub const fn is_optional(self) -> bool {
        self.number() >= Kind::Vectors.number()
    }

    /// Number in the section table.
    pub const fn number(self) -> u16 {
        self as u16
    }
}
