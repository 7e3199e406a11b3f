//! Boards with known answers: those of the statement and of published sources, about twelve for
//! each distance, and ties between values that programs often get wrong.

use rotation_game::PatternDatabase;
use rotation_game::puzzle::judge::{Answer, Reader};
use rotation_game::search::{Heuristic, Limits, Misplaced, Outcome, search};
use rstest::rstest;

use crate::support::{run, text};

const PUBLIC: (&str, &str) = (
    include_str!("../data/public.in"),
    include_str!("../data/public.out"),
);
const BY_DISTANCE: (&str, &str) = (
    include_str!("../data/by-distance.in"),
    include_str!("../data/by-distance.out"),
);
const TIES: (&str, &str) = (
    include_str!("../data/ties.in"),
    include_str!("../data/ties.out"),
);

fn answers<H: Heuristic>(mut input: &[u8], heuristic: &H) -> String {
    let mut reader = Reader::default();
    let mut answers = String::new();
    while let Some(board) = match reader.next(&mut input).unwrap() {
        Some(board) => Some(board),
        None => reader.finish().unwrap(),
    } {
        let Outcome::Solved(solution) = search(board, heuristic, Limits::NONE) else {
            panic!("{board} is not solved");
        };
        assert_eq!(board.after_all(&solution.moves).centre(), solution.centre);
        let (moves, centre) = (&solution.moves, solution.centre);
        answers += &Answer { moves, centre }.to_string();
    }
    answers
}

#[rstest]
#[case::public(PUBLIC)]
#[case::by_distance(BY_DISTANCE)]
#[case::ties(TIES)]
fn the_library_answers_as_the_published_programs_do(#[case] (input, output): (&str, &str)) {
    assert!(!output.is_empty());
    assert_eq!(answers(input.as_bytes(), &PatternDatabase::build()), output);
    assert_eq!(answers(input.as_bytes(), &Misplaced), output);
}

#[rstest]
fn the_program_answers_as_the_published_programs_do(
    #[values(PUBLIC, BY_DISTANCE, TIES)] (input, output): (&str, &str),
    #[values("pattern-database", "misplaced")] heuristic: &str,
) {
    let run = run(&["solve", "--heuristic", heuristic], input);
    assert_eq!(text(&run.stderr), "");
    assert_eq!(text(&run.stdout), output);
    assert!(run.status.success());
}
