//! The inputs that fuzzing begins with are tests of their own.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use rstest::rstest;

use crate::properties::{batch, boards, judge, patterns, replay, requests, solve};

fn folder(name: &str) -> BTreeSet<PathBuf> {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = fs::read_dir(corpora.join(name)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[rstest]
#[case("batch", batch::check)]
#[case("boards", boards::check)]
#[case("judge", judge::check)]
#[case("patterns", patterns::check)]
#[case("replay", replay::check)]
#[case("requests", requests::check)]
#[case("solve", solve::check)]
fn what_holds_for_every_input_holds_for_the_corpus(#[case] name: &str, #[case] check: fn(&[u8])) {
    check(b"");
    let inputs = folder(name);
    assert!(inputs.len() >= 20, "{inputs:?}");
    let failing: Vec<PathBuf> = inputs
        .into_iter()
        .filter(|path| {
            let input = fs::read(path).unwrap();
            catch_unwind(|| check(&input)).is_err()
        })
        .collect();
    assert!(failing.is_empty(), "{failing:?}");
}

#[test]
fn every_corpus_has_its_case() {
    let names: Vec<PathBuf> = folder("").into_iter().collect();
    let names: Vec<_> = names.iter().filter_map(|path| path.file_name()).collect();
    let cases = [
        "batch", "boards", "judge", "patterns", "replay", "requests", "solve",
    ];
    assert_eq!(names, cases);
}
