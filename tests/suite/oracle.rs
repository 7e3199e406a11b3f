//! The search against an oracle that shares nothing with it: the plain game, iterative deepening
//! without a heuristic and without pruning.

use std::cell::RefCell;
use std::collections::HashSet;

use proptest::prelude::*;
use rotation_game::puzzle::{Goal, MoveSet};
use rotation_game::search::{Heuristic, Limits, Misplaced, Outcome, search};
use rotation_game::{Board, Move, PatternDatabase, Solution, Value};

use crate::properties::plain::{self, CENTRE, Cells, LINES, turn};
use crate::support::boards;

/// All solutions of exactly `depth` moves in letter order, each with the centre after it.
pub(crate) fn all_solutions(board: Board, depth: usize) -> Vec<(String, u8)> {
    fn extend(cells: Cells, depth: usize, moves: &str, found: &mut Vec<(String, u8)>) {
        if depth > 0 {
            for (letter, line) in &LINES {
                extend(
                    turn(cells, line),
                    depth - 1,
                    &format!("{moves}{letter}"),
                    found,
                );
            }
        } else if let Some(centre) = plain::centre(&cells) {
            found.push((moves.to_owned(), centre));
        }
    }
    let mut found = Vec::new();
    extend(board.cells().map(Value::get), depth, "", &mut found);
    found
}

/// The smallest of the shortest solutions, if there is one of at most `depth` moves.
fn oracle(board: Board, depth: usize) -> Option<(String, u8)> {
    let cells = board.cells().map(Value::get);
    let moves = plain::first(cells, "centre", depth)?;
    let after = moves.chars().try_fold(cells, plain::after)?;
    Some((moves, plain::centre(&after)?))
}

fn solve<H: Heuristic>(board: Board, heuristic: &H) -> Solution {
    match search(board, heuristic, Limits::NONE) {
        Outcome::Solved(solution) => solution,
        outcome => panic!("{board}: {outcome:?}"),
    }
}

fn as_text(solution: &Solution) -> (String, u8) {
    (solution.moves.to_string(), solution.centre.unwrap().get())
}

/// A solved board, scrambled by a few moves.
pub(crate) fn near_boards() -> impl Strategy<Value = Board> {
    let others = [1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3];
    let solved = Just(others.to_vec()).prop_shuffle().prop_map(|others| {
        let mut others = others.into_iter();
        let cells = (0..24).map(|cell| {
            if CENTRE.contains(&cell) {
                2
            } else {
                others.next().unwrap()
            }
        });
        Board::from_numbers(cells).unwrap()
    });
    (solved, prop::collection::vec(0..8_usize, 0..=6)).prop_map(|(board, moves)| {
        moves
            .into_iter()
            .fold(board, |board, i| board.after(Move::ALL[i]))
    })
}

#[test]
fn the_oracle_knows_the_statement() {
    let board = "111132323132231222312133".parse().unwrap();
    assert_eq!(oracle(board, 6), Some(("AC".to_owned(), 2)));
    let board = "111111112222222233333333".parse().unwrap();
    assert_eq!(oracle(board, 6), Some(("DDHH".to_owned(), 2)));
    assert_eq!(oracle(board, 3), None);
}

#[test]
fn boards_up_to_six_moves_away_are_solved_as_the_oracle_does() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(300);
    let seen = RefCell::new(HashSet::new());
    proptest!(config, |(board in near_boards())| {
        let expected = oracle(board, 6).expect("it was scrambled by at most six moves");
        prop_assert_eq!(as_text(&solve(board, &database)), expected.clone());
        prop_assert_eq!(as_text(&solve(board, &Misplaced)), expected.clone());
        seen.borrow_mut().insert(expected.0.len());
    });
    let seen = seen.into_inner();
    assert_eq!(
        seen.len(),
        7,
        "every distance from 0 to 6 was met: {seen:?}"
    );
}

#[test]
fn both_heuristics_find_the_same_on_random_boards_and_it_solves_them() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(300);
    proptest!(config, |(board in boards())| {
        let solution = solve(board, &database);
        prop_assert_eq!(solve(board, &Misplaced), solution);
        prop_assert_eq!(board.after_all(&solution.moves).centre(), solution.centre);
        prop_assert_eq!(solution.moves.len(), database.distance(board) as usize);
    });
}

/// No heuristic at all: also none that helps to prune.
struct Blind;

impl Heuristic for Blind {
    const NAME: &'static str = "blind";

    fn goal(&self) -> Goal {
        Goal::Centre
    }

    fn lower_bound(&self, _: Board) -> u32 {
        0
    }
}

#[test]
fn a_heuristic_of_ones_own_finds_the_same() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(50);
    proptest!(config, |(board in near_boards())| {
        prop_assert_eq!(solve(board, &Blind), solve(board, &database));
    });
}

#[test]
fn the_heuristics_are_admissible_and_tell_the_promising_moves_rightly() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(2000);
    proptest!(config, |(board in boards(), budget in 0..14_u32)| {
        prop_assert!(Misplaced.lower_bound(board) <= database.distance(board));
        let one_by_one = Move::ALL
            .into_iter()
            .filter(|&next| Misplaced.lower_bound(board.after(next)) <= budget)
            .collect();
        prop_assert_eq!(Misplaced.promising(board, MoveSet::ALL, budget), one_by_one);

        let mut within = Move::ALL
            .into_iter()
            .filter(|&next| database.distance(board.after(next)) <= budget);
        let promising = database.promising(board, MoveSet::ALL, budget);
        if database.distance(board) > budget {
            prop_assert_eq!(promising.into_iter().collect::<Vec<_>>(), within.next().into_iter().collect::<Vec<_>>());
        } else {
            prop_assert_eq!(promising, within.collect());
        }
    });
}

proptest! {
    #[test]
    fn a_move_turns_the_cells_that_the_statement_lists(board in boards()) {
        let cells = board.cells().map(Value::get);
        for (next, (letter, line)) in Move::ALL.into_iter().zip(LINES) {
            prop_assert_eq!(next.letter(), letter);
            prop_assert_eq!(board.after(next).cells().map(Value::get), turn(cells, &line));
        }
    }

    #[test]
    fn a_move_and_its_inverse_cancel_and_seven_moves_come_round(board in boards()) {
        for next in Move::ALL {
            prop_assert_eq!(board.after(next).after(next.inverse()), board);
            prop_assert_eq!(board.after_all(&[next; 7]), board);
        }
    }

    #[test]
    fn moves_keep_the_counts(board in boards(), moves in prop::collection::vec(0..8_usize, 0..50)) {
        let moves: Vec<Move> = moves.into_iter().map(|i| Move::ALL[i]).collect();
        let after = board.after_all(&moves);
        for value in Value::ALL {
            prop_assert_eq!(after.mask(value).count_ones(), 8);
            prop_assert_eq!(after.cells().iter().filter(|&&cell| cell == value).count(), 8);
        }
    }

    #[test]
    fn a_board_survives_every_notation(board in boards()) {
        prop_assert_eq!(board.to_string().parse(), Ok(board));
        prop_assert_eq!(Board::from_numbers(board.cells().map(|value| value.get().into())), Ok(board));
        prop_assert_eq!(serde_json::to_value(board).unwrap(), board.to_string());
        let spaced: String = board.to_string().chars().flat_map(|digit| [digit, ' ']).collect();
        let mut reader = rotation_game::puzzle::judge::Reader::default();
        prop_assert_eq!(reader.next(&mut spaced.as_bytes()), Ok(Some(board)));
    }
}
