//! Goals as they are written, and what they ask of a board.

use rotation_game::puzzle::{Goal, IllegalPattern, Pattern, PatternFault};
use rotation_game::search::{GoalMisplaced, Heuristic, Limits, Outcome, search};
use rotation_game::{Board, Move, Value};

use super::{listed, plain};

/// Up to how many moves a plain search is no matter.
const NEAR: u32 = 2;

/// Reads the input as a goal, and holds the board that it shuffles against it.
pub(crate) fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let board: Board = plain::print(&plain::shuffled(input)).parse().unwrap();
    let goal = text.parse::<Goal>();
    assert_eq!(goal.is_ok(), plain::is_goal(&text), "{text:?}");
    match goal {
        Ok(goal) => {
            let text = match goal {
                Goal::Centre => text.into_owned(),
                Goal::Pattern(_) => plain::unspaced(&text),
            };
            assert_eq!(goal.to_string(), text);
            assert_eq!(serde_json::to_value(goal).unwrap(), text);
            assert_eq!(
                goal.is_reached(board),
                plain::reaches(&board.cells().map(Value::get), &text)
            );
            match goal.pattern() {
                Some(pattern) => asks_for(pattern, &text, board),
                None => assert_eq!(text, "centre"),
            }
        }
        Err(illegal) => check_faults(&illegal, &plain::unspaced(&text)),
    }
    let full = Pattern::from(board);
    assert_eq!(full.to_string(), board.to_string());
    assert!(full.matches(board));
}

fn asks_for(pattern: Pattern, text: &str, board: Board) {
    for value in Value::ALL {
        let cells = text
            .char_indices()
            .filter(|&(_, wanted)| wanted.to_digit(10) == Some(value.get().into()));
        assert_eq!(
            cells.fold(0, |mask, (cell, _)| mask | 1 << cell),
            pattern.mask(value)
        );
    }
    let heuristic = GoalMisplaced::new(pattern);
    let bound = heuristic.lower_bound(board);
    assert_eq!(bound == 0, pattern.matches(board));
    for next in Move::ALL {
        assert!(
            heuristic.lower_bound(board.after(next)) + 1 >= bound,
            "{board} {next} {text}"
        );
    }
    // What is near is found.
    let limits = Limits {
        max_depth: NEAR,
        ..Limits::NONE
    };
    let cells = board.cells().map(Value::get);
    let expected = plain::first(cells, text, NEAR as usize);
    match search(board, &heuristic, limits) {
        Outcome::Solved(solution) => assert_eq!(Some(solution.moves.to_string()), expected),
        Outcome::DepthCapReached { lower_bound } => {
            assert_eq!(expected, None);
            assert_eq!(lower_bound, bound.max(NEAR + 1));
        }
        outcome => panic!("{outcome:?}"),
    }
}

fn check_faults(illegal: &IllegalPattern, text: &str) {
    let length = text.chars().count();
    let mut expected = Vec::new();
    if length != 24 {
        expected.push(PatternFault::Length { found: length });
    }
    for (index, found) in text.chars().enumerate().take(24) {
        if !['1', '2', '3', '.'].contains(&found) {
            expected.push(PatternFault::Cell { index, found });
        }
    }
    for value in Value::ALL {
        let found = text.matches(char::from(b'0' + value.get())).count();
        if found > 8 && length <= 24 {
            let found = u32::try_from(found).unwrap();
            expected.push(PatternFault::Count { value, found });
        }
    }
    assert_eq!(illegal.faults(), expected, "{text:?}");
    let texts: Vec<String> = expected.iter().map(PatternFault::to_string).collect();
    assert_eq!(illegal.to_string(), listed(&texts));
}
