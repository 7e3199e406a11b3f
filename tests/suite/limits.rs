//! Whatever limits a search is honoured.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rotation_game::puzzle::Goal;
use rotation_game::search::{Heuristic, Iteration, Limits, Misplaced, Outcome, explain, search};
use rotation_game::{Board, PatternDatabase};

/// 13 moves away, as far as a board can be.
fn hardest() -> Board {
    "112323233232111211122333".parse().unwrap()
}

/// It never lets the search see a solution.
struct Hopeless;
impl Heuristic for Hopeless {
    const NAME: &'static str = "hopeless";
    fn goal(&self) -> Goal {
        Goal::Centre
    }
    fn lower_bound(&self, _: Board) -> u32 {
        30
    }
}

/// Without a heuristic, 13 moves are billions of nodes. Stops the search long before.
struct Blind<'a> {
    stop: &'a AtomicBool,
    boards: Cell<u64>,
}
impl Heuristic for Blind<'_> {
    const NAME: &'static str = "blind";
    fn goal(&self) -> Goal {
        Goal::Centre
    }
    fn lower_bound(&self, _: Board) -> u32 {
        self.boards.set(self.boards.get() + 1);
        if self.boards.get() == 1_000_000 {
            self.stop.store(true, Relaxed);
        }
        0
    }
}

#[test]
fn a_depth_cap_below_the_distance_is_reached_and_tells_the_lower_bound() {
    let database = PatternDatabase::build();
    let capped = |board: Board, max_depth| {
        search(
            board,
            &database,
            Limits {
                max_depth,
                ..Limits::NONE
            },
        )
    };
    assert_eq!(
        capped(hardest(), 12),
        Outcome::DepthCapReached { lower_bound: 13 }
    );
    assert_eq!(
        capped(hardest(), 0),
        Outcome::DepthCapReached { lower_bound: 13 }
    );
    assert!(matches!(capped(hardest(), 13), Outcome::Solved(_)));

    let capped = search(
        hardest(),
        &Misplaced,
        Limits {
            max_depth: 9,
            ..Limits::NONE
        },
    );
    assert_eq!(capped, Outcome::DepthCapReached { lower_bound: 10 });
    let solved = "222222111221133111333333".parse().unwrap();
    let capped = search(
        solved,
        &Misplaced,
        Limits {
            max_depth: 0,
            ..Limits::NONE
        },
    );
    assert!(matches!(capped, Outcome::Solved(_)));
}

#[test]
fn a_cap_beyond_all_reason_still_ends() {
    let limits = Limits {
        max_depth: u32::MAX,
        ..Limits::NONE
    };
    assert!(matches!(
        search(hardest(), &Misplaced, limits),
        Outcome::Solved(_)
    ));

    assert_eq!(
        search(hardest(), &Hopeless, limits),
        Outcome::DepthCapReached { lower_bound: 33 }
    );
}

#[test]
fn a_deadline_that_has_passed_stops_the_search_before_its_first_node() {
    let limits = Limits {
        deadline: Some(Instant::now()),
        ..Limits::NONE
    };
    let (outcome, explanation) = explain(hardest(), &Misplaced, limits);
    let lower_bound = Misplaced.lower_bound(hardest());
    assert_eq!(outcome, Outcome::TimedOut { lower_bound });
    assert_eq!(explanation.nodes, 0);
}

#[test]
fn a_deadline_stops_a_running_search_and_the_bound_so_far_is_told() {
    // Long enough to open nodes, far too short for this board.
    let limits = Limits {
        deadline: Some(Instant::now() + Duration::from_millis(2)),
        ..Limits::NONE
    };
    let (outcome, explanation) = explain(hardest(), &Misplaced, limits);
    let last = explanation.iterations.last().unwrap();
    assert_eq!(
        outcome,
        Outcome::TimedOut {
            lower_bound: last.bound
        }
    );
    assert!(explanation.nodes > 0 && last.bound > 5, "{explanation:?}");
}

#[test]
fn a_stop_flag_that_is_set_stops_the_search_at_its_first_node() {
    let limits = Limits {
        stop: &AtomicBool::new(true),
        ..Limits::NONE
    };
    let (outcome, explanation) = explain(hardest(), &Misplaced, limits);
    assert_eq!(outcome, Outcome::Stopped);
    assert_eq!(explanation.nodes, 1);
}

#[test]
fn a_stop_flag_stops_a_search_that_would_run_for_hours() {
    let stop = AtomicBool::new(false);
    let blind = Blind {
        stop: &stop,
        boards: Cell::new(0),
    };
    let limits = Limits {
        stop: &stop,
        ..Limits::NONE
    };
    assert_eq!(search(hardest(), &blind, limits), Outcome::Stopped);
    assert!(blind.boards.get() < 1_100_000, "{:?}", blind.boards);
}

#[test]
fn the_exact_search_opens_nothing_but_the_solution() {
    let (outcome, explanation) = explain(hardest(), &PatternDatabase::build(), Limits::NONE);
    let Outcome::Solved(solution) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(solution.moves.len(), 13);
    assert_eq!(
        explanation.iterations,
        [Iteration {
            bound: 13,
            nodes: 14
        }]
    );
    assert_eq!(explanation.heuristic, "pattern-database");
}

#[test]
fn iterations_rise_one_by_one_from_the_lower_bound_to_the_answer() {
    let board = "111322223111333223232131".parse().unwrap();
    let (outcome, explanation) = explain(board, &Misplaced, Limits::NONE);
    let Outcome::Solved(solution) = outcome else {
        panic!("{outcome:?}");
    };
    let bounds: Vec<u32> = explanation
        .iterations
        .iter()
        .map(|iteration| iteration.bound)
        .collect();
    let last = u32::try_from(solution.moves.len()).unwrap();
    assert_eq!(
        bounds,
        (Misplaced.lower_bound(board)..=last).collect::<Vec<_>>()
    );
    let total: u64 = explanation
        .iterations
        .iter()
        .map(|iteration| iteration.nodes)
        .sum();
    assert_eq!(explanation.nodes, total);
}

#[test]
fn a_search_allocates_nothing() {
    let database = PatternDatabase::build();
    let allocations = allocation_counter::measure(|| {
        assert!(matches!(
            search(hardest(), &database, Limits::NONE),
            Outcome::Solved(_)
        ));
        let capped = Limits {
            max_depth: 9,
            ..Limits::NONE
        };
        assert!(matches!(
            search(hardest(), &Misplaced, capped),
            Outcome::DepthCapReached { .. }
        ));
    });
    assert_eq!(allocations.count_total, 0);
}
