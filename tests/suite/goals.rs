//! Searches to patterns.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rotation_game::puzzle::{Goal, MoveSet, Pattern};
use rotation_game::search::{
    GoalDatabase, GoalMisplaced, Heuristic, Limits, Outcome, explain, search,
};
use rotation_game::{Board, Move, MoveSequence, PatternDatabase, Solution, Value};

use crate::properties::plain;
use crate::support::{boards, run, text};

/// Boards, patterns and answers from an independent search: board, pattern, moves (or `-`), length.
const CASES: &str = include_str!("../data/goals.txt");

fn cases() -> impl Iterator<Item = [&'static str; 4]> {
    let lines = CASES.lines();
    lines.map(|line| line.split(' ').collect::<Vec<_>>().try_into().unwrap())
}

fn solve<H: Heuristic>(board: Board, heuristic: &H) -> Solution {
    match search(board, heuristic, Limits::NONE) {
        Outcome::Solved(solution) => solution,
        outcome => panic!("{board}: {outcome:?}"),
    }
}

/// 19 moves apart: with `misplaced` nobody sees the end of that.
fn far_apart() -> (Board, Pattern) {
    let [board, pattern, ..] = cases().next().unwrap();
    (board.parse().unwrap(), pattern.parse().unwrap())
}

#[test]
fn the_published_pairs_have_the_known_answers() {
    let mut databases = HashMap::new();
    let mut checked = 0;
    for [board, text, moves, length] in cases() {
        let pattern: Pattern = text.parse().unwrap();
        let board: Board = board.parse().unwrap();
        let moves: MoveSequence = moves.trim_matches('-').parse().unwrap();
        let database = databases
            .entry(text)
            .or_insert_with(|| GoalDatabase::build(pattern));
        let solution = solve(board, database);
        assert_eq!(solution.moves, moves, "{board} {pattern}");
        assert_eq!(moves.len().to_string(), length);
        let after = board.after_all(&moves);
        assert!(pattern.matches(after));
        assert_eq!(solution.centre, after.centre());
        if moves.len() <= 7 {
            assert_eq!(solve(board, &GoalMisplaced::new(pattern)), solution);
        }
        checked += 1;
    }
    assert_eq!(checked, 32);
}

#[test]
fn the_program_answers_the_published_pairs() {
    for [board, pattern, moves, _] in cases().step_by(3) {
        let run = run(&["solve", "--goal", pattern], spaced(board));
        assert_eq!(text(&run.stderr), "");
        let answer = text(&run.stdout).lines().next().unwrap();
        assert_eq!(answer, moves.replace('-', "No moves needed"));
    }
}

fn spaced(board: &str) -> String {
    board.chars().flat_map(|digit| [digit, ' ']).collect()
}

/// The boards up to `depth` moves from a goal, each with the first of its shortest solutions in
/// letter order.
fn near(goal: Board, depth: usize) -> HashMap<Board, Vec<Move>> {
    let mut found = HashMap::from([(goal, Vec::new())]);
    let mut level = vec![goal];
    for length in 1..=depth {
        let mut next_level = HashMap::<Board, Vec<Move>>::new();
        for board in level {
            for made in Move::ALL {
                // From `before`, this move and then the board's own solution.
                let before = board.after(made.inverse());
                if found.contains_key(&before) {
                    continue;
                }
                let mut moves = vec![made];
                moves.extend(&found[&board]);
                let first = next_level.entry(before).or_insert_with(|| moves.clone());
                if moves < *first {
                    *first = moves;
                }
            }
        }
        assert!(next_level.values().all(|moves| moves.len() == length));
        level = next_level.keys().copied().collect();
        found.extend(next_level);
    }
    found
}

#[test]
fn every_board_up_to_six_moves_from_a_full_goal_is_solved_by_its_first_shortest_sequence() {
    for goal in [
        "112311231323132213232213",
        "111111112222222233333333",
        "213322321311323112322113",
    ] {
        let goal: Board = goal.parse().unwrap();
        let database = GoalDatabase::build(goal.into());
        let misplaced = GoalMisplaced::new(goal.into());
        let near = near(goal, 6);
        assert!(near.len() > 20_000, "{}", near.len());
        for (&board, moves) in &near {
            let solution = solve(board, &database);
            assert_eq!(*solution.moves, **moves, "{board} to {goal}");
            let distance = u32::try_from(moves.len()).unwrap();
            assert!(database.lower_bound(board) <= distance);
            assert!(misplaced.lower_bound(board) <= distance);
            if moves.len() <= 3 {
                assert_eq!(solve(board, &misplaced), solution);
            }
        }
    }
}

/// A board, and a pattern that asks for a few cells as they are after at most five moves.
fn near_patterns() -> impl Strategy<Value = (Board, String)> {
    let moves = prop::collection::vec(0..8_usize, 0..=5);
    let cells = prop::collection::vec(0..24_usize, 0..=9);
    (boards(), moves, cells).prop_map(|(board, moves, cells)| {
        let after = moves
            .into_iter()
            .fold(board, |board, i| board.after(Move::ALL[i]));
        let full = after.to_string();
        let kept = full.char_indices();
        let pattern = kept.map(|(i, value)| if cells.contains(&i) { value } else { '.' });
        (board, pattern.collect())
    })
}

#[test]
fn patterns_of_few_cells_are_reached_as_a_plain_search_does() {
    let config = ProptestConfig::with_cases(120);
    proptest!(config, |((board, text) in near_patterns())| {
        let pattern: Pattern = text.parse().unwrap();
        let expected = plain::first(board.cells().map(Value::get), &text, 5).expect("five moves are enough");
        let database = GoalDatabase::build(pattern);
        let solution = solve(board, &database);
        prop_assert_eq!(solution.moves.to_string(), expected);
        prop_assert_eq!(solve(board, &GoalMisplaced::new(pattern)), solution);
        let after = board.after_all(&solution.moves);
        prop_assert!(pattern.matches(after));
        prop_assert_eq!(solution.centre, after.centre());
    });
}

#[test]
fn the_least_of_the_three_centres_is_the_usual_answer() {
    let usual = PatternDatabase::build();
    let centres = Value::ALL.map(|value| GoalDatabase::build(Pattern::centre(value)));
    let config = ProptestConfig::with_cases(500);
    proptest!(config, |(board in boards())| {
        let solutions = Value::ALL.map(|value| {
            let database = &centres[value.index()];
            // One value alone is asked for: the bound is exact, and nothing else is opened.
            assert_eq!(database.lower_bound(board), usual.distance_to(board, value));
            let (outcome, explanation) = explain(board, database, Limits::NONE);
            let Outcome::Solved(solution) = outcome else { panic!("{outcome:?}") };
            assert_eq!(explanation.nodes, solution.moves.len() as u64 + 1);
            assert_eq!(solution.centre, Some(value));
            solution
        });
        let least = solutions.into_iter().min_by_key(|solution| (solution.moves.len(), solution.moves));
        prop_assert_eq!(least, Some(usual.solve(board)));
    });
}

#[test]
fn a_pattern_that_asks_for_nothing_is_reached_by_every_board() {
    let database = GoalDatabase::build(".".repeat(24).parse().unwrap());
    assert_eq!(database.bytes(), 0);
    let (board, _) = far_apart();
    assert!(solve(board, &database).moves.is_empty());
}

#[test]
fn the_promising_moves_are_those_that_the_bound_lets_through() {
    let (_, full) = far_apart();
    for pattern in [full, "1133.1..2.1322.1312223.3".parse().unwrap()] {
        let database = GoalDatabase::build(pattern);
        let config = ProptestConfig::with_cases(1000);
        proptest!(config, |(board in boards(), budget in 0..20_u32, among in 0..=255_u8)| {
            let among = MoveSet::from_bits(among);
            let one_by_one = among
                .into_iter()
                .filter(|&next| database.lower_bound(board.after(next)) <= budget)
                .collect();
            // Once to find the steps, once to find them known.
            prop_assert_eq!(database.promising(board, among, budget), one_by_one);
            prop_assert_eq!(database.promising(board, among, budget), one_by_one);
        });
    }
}

#[test]
fn a_database_that_is_rebuilt_is_as_good_as_a_new_one() {
    let (_, full) = far_apart();
    let patterns = [
        "1133.1..2.1322.1312223.3",
        "......222..22..222......",
        "........................",
        "112311231323132213232213",
    ];
    let mut rebuilt = GoalDatabase::build(full);
    for pattern in patterns.map(|pattern| pattern.parse().unwrap()) {
        rebuilt = rebuilt.rebuild(pattern);
        let new = GoalDatabase::build(pattern);
        assert_eq!(rebuilt.goal(), new.goal());
        assert_eq!(rebuilt.bytes(), new.bytes());
        let config = ProptestConfig::with_cases(1000);
        proptest!(config, |(board in boards(), budget in 0..20_u32)| {
            prop_assert_eq!(rebuilt.lower_bound(board), new.lower_bound(board));
            let [promising, expected] = [&rebuilt, &new]
                .map(|database| database.promising(board, MoveSet::ALL, budget));
            prop_assert_eq!(promising, expected);
        });
    }
}

#[test]
fn a_depth_cap_tells_the_bound_that_was_proven() {
    let (board, pattern) = far_apart();
    let database = GoalDatabase::build(pattern);
    let first = database.lower_bound(board);
    for max_depth in [0, first - 1, first, 18] {
        let limits = Limits {
            max_depth,
            ..Limits::NONE
        };
        let lower_bound = first.max(max_depth + 1);
        let outcome = search(board, &database, limits);
        assert_eq!(outcome, Outcome::DepthCapReached { lower_bound });
    }
    let limits = Limits {
        max_depth: 19,
        ..Limits::NONE
    };
    assert!(matches!(
        search(board, &database, limits),
        Outcome::Solved(_)
    ));
}

#[test]
fn a_deadline_ends_a_search_that_would_run_for_hours() {
    let (board, pattern) = far_apart();
    let misplaced = GoalMisplaced::new(pattern);
    let limits = Limits {
        deadline: Some(Instant::now() + Duration::from_millis(20)),
        ..Limits::NONE
    };
    let (outcome, explanation) = explain(board, &misplaced, limits);
    let lower_bound = explanation.iterations.last().unwrap().bound;
    assert_eq!(outcome, Outcome::TimedOut { lower_bound });
    assert!(lower_bound > misplaced.lower_bound(board));
}

#[test]
fn a_heuristic_knows_its_goal() {
    let (_, pattern) = far_apart();
    assert_eq!(GoalMisplaced::new(pattern).goal(), Goal::Pattern(pattern));
    assert_eq!(GoalDatabase::build(pattern).goal(), Goal::Pattern(pattern));
    assert_eq!(PatternDatabase::build().goal(), Goal::Centre);
}

proptest! {
    #[test]
    fn no_move_brings_the_bound_of_misplaced_down_by_more_than_one(
        board in boards(),
        goal in boards(),
        kept in 0..1_u32 << 24,
    ) {
        let full = goal.to_string();
        let kept = full.char_indices().map(|(i, value)| if kept >> i & 1 == 1 { value } else { '.' });
        let pattern: Pattern = kept.collect::<String>().parse().unwrap();
        let heuristic = GoalMisplaced::new(pattern);
        let bound = heuristic.lower_bound(board);
        prop_assert_eq!(bound == 0, pattern.matches(board));
        for next in Move::ALL {
            prop_assert!(heuristic.lower_bound(board.after(next)) + 1 >= bound);
        }
    }
}
