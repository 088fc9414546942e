//! Documents from memory: drawn as they are needed, never held all at once, and the settings that a build takes.

use a2kb::{BuildSettings, Builder, Document, Error, Progress};
use std::cell::Cell;

const TEXT_BYTES: usize = 100_000;

fn document(number: usize) -> Document {
    let text = format!("Number {number} of many. ").repeat(TEXT_BYTES / 20);
    Document::plain(number.to_string(), None, text)
}

#[test]
fn documents_are_drawn_as_they_are_needed() {
    let (drawn, most_ahead) = (Cell::new(0), Cell::new(0));
    let documents = (0..200).map(|number| {
        drawn.set(drawn.get() + 1);
        document(number)
    });
    let on_progress = |progress| {
        if let Progress::Reading { documents, .. } = progress {
            most_ahead.set(most_ahead.get().max(drawn.get() - documents));
        }
    };
    let (bytes, report) = Builder::new().documents(documents).on_progress(on_progress).build_to_memory().unwrap();
    assert_eq!(report.finished.counts.documents, 200);
    assert!(most_ahead.get() < 20, "{} documents were drawn ahead", most_ahead.get());
    let one_by_one = (0..200).fold(Builder::new(), |builder, number| builder.document(document(number)));
    assert!(one_by_one.build_to_memory().unwrap().0 == bytes);
}

#[test]
fn short_documents_do_not_pile_up() {
    let (drawn, most) = (Cell::new(0), Cell::new(0));
    let documents = (0..30_000).map(|number: usize| {
        drawn.set(drawn.get() + 1);
        Document::plain(number.to_string(), None, number.to_string())
    });
    let on_progress = |progress| {
        if let Progress::Reading { documents, .. } = progress {
            most.set(most.get().max(drawn.get() - documents));
        }
    };
    Builder::new().documents(documents).on_progress(on_progress).build_to_memory().unwrap();
    assert!(most.get() <= 8192, "{}", most.get());
}

#[test]
fn an_endless_source_can_be_stopped() {
    let drawn = Cell::new(0);
    let documents = std::iter::repeat_with(|| {
        drawn.set(drawn.get() + 1);
        document(drawn.get())
    });
    let error = Builder::new().documents(documents).cancel_when(|| drawn.get() == 45).build_to_memory().unwrap_err();
    assert!(matches!(error, Error::Interrupted) && drawn.get() == 45, "{error} after {}", drawn.get());
}

#[test]
fn the_first_error_of_a_source_ends_the_build() {
    let documents = (0..50).map(|number| match number {
        30 => Err(Error::io("read", "the database", std::io::ErrorKind::ConnectionReset.into())),
        31.. => panic!("nothing is drawn after an error"),
        number => Ok(document(number)),
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    let error = Builder::new().try_documents(documents).build(&path).unwrap_err();
    assert!(error.to_string().starts_with("cannot read the database"), "{error}");
    assert!(!path.exists());
}

#[test]
fn settings_are_data_and_say_what_the_fluent_methods_say() {
    let mut settings = BuildSettings::default();
    settings.title = "Lakes".into();
    (settings.layers[0].target_tokens, settings.layers[0].overlap_tokens) = (40, 10);
    settings.json_fields.text = "body".into();
    settings.statistical = Some(a2kb::Selector::ScaleFree);
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<BuildSettings>(&text).unwrap(), settings);
    assert_eq!(serde_json::from_str::<BuildSettings>(r#"{"title": "x"}"#).unwrap().layers.len(), 1);
    assert!(serde_json::from_str::<BuildSettings>(r#"{"titel": "x"}"#).is_err());
    let of_settings = Builder::with_settings(settings.clone()).document(document(1)).build_to_memory().unwrap().0;
    let builder = Builder::new().title("Lakes").chunks(40, 10).statistical(a2kb::Selector::ScaleFree);
    assert!(builder.document(document(1)).build_to_memory().unwrap().0 == of_settings);
    // They are held against their limits before anything is drawn.
    for (layers, said) in [(0, "there would be no chunks"), (17, "the number of layers is 17")] {
        settings.layers = vec![settings.layers.first().unwrap_or(&BuildSettings::default().layers[0]).clone(); layers];
        let documents = std::iter::once_with(|| panic!("drawn"));
        let error = Builder::with_settings(settings.clone()).documents(documents).build_to_memory().unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}
