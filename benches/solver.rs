//! How fast the solver is: `cargo bench --bench solver`.
//!
//! Compare figures of one run only. `textbook` is the published idea as it is usually written, the
//! measure for `misplaced`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod textbook;

use std::hint::black_box;

use divan::{AllocProfiler, Bencher, counter::ItemsCount};
use pathfinding::directed::idastar::idastar;
use rotation_game::search::{GoalDatabase, Heuristic, Limits, Misplaced, Outcome, explain, search};
use rotation_game::{Board, Move, PatternDatabase, Value, analysis};

/// Shows in the table what a benchmark allocates.
#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// 13 moves away, the farthest there is.
const HARDEST: [&str; 3] = [
    "112323233232111211122333",
    "313221111133222332233112",
    "223131311313222322233111",
];

fn main() {
    divan::main();
}

/// Boards from a fixed linear congruential generator (Knuth's MMIX constants), shuffled.
fn random_boards(count: usize) -> Vec<Board> {
    let mut state = 42_u64;
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit
    };
    let mut cells = [1, 2, 3].repeat(8);
    let mut board = || {
        for last in (1..cells.len()).rev() {
            cells.swap(last, below(last + 1));
        }
        Board::from_numbers(cells.iter().copied()).unwrap()
    };
    (0..count).map(|_| board()).collect()
}

fn solve_all<H: Heuristic>(boards: &[Board], heuristic: &H) {
    for &board in boards {
        let outcome = search(black_box(board), heuristic, Limits::NONE);
        assert!(matches!(black_box(outcome), Outcome::Solved(_)));
    }
}

#[divan::bench]
fn build_pattern_database() -> PatternDatabase {
    PatternDatabase::build()
}

#[divan::bench]
fn exact_random(bencher: Bencher<'_, '_>) {
    let boards = random_boards(10_000);
    let database = PatternDatabase::build();
    bencher
        .counter(ItemsCount::new(boards.len()))
        .bench(|| solve_all(&boards, &database));
}

#[divan::bench]
fn build_goal_database(bencher: Bencher<'_, '_>) {
    let goal = random_boards(1)[0];
    bencher.bench(|| GoalDatabase::build(goal.into()));
}

/// Random boards to one full goal, by nodes.
#[divan::bench]
fn goal_random(bencher: Bencher<'_, '_>) {
    let boards = random_boards(101);
    let database = GoalDatabase::build(boards[0].into());
    let nodes = |board: &Board| explain(*board, &database, Limits::NONE).1.nodes;
    let nodes: u64 = boards[1..].iter().map(nodes).sum();
    bencher
        .counter(ItemsCount::new(nodes))
        .bench(|| solve_all(&boards[1..], &database));
}

#[divan::bench]
fn misplaced_random(bencher: Bencher<'_, '_>) {
    let boards = random_boards(100);
    bencher
        .counter(ItemsCount::new(boards.len()))
        .bench(|| solve_all(&boards, &Misplaced));
}

#[divan::bench(sample_count = 3)]
fn textbook_random(bencher: Bencher<'_, '_>) {
    let boards = random_boards(100);
    bencher.counter(ItemsCount::new(boards.len())).bench(|| {
        for board in &boards {
            black_box(textbook::solve(board.cells().map(Value::get)));
        }
    });
}

/// IDA* of a library for any graph, with the same heuristic. Its solutions are as short, but not the
/// smallest: among boards with the same bound it follows none of the letters' order.
#[divan::bench(sample_count = 3)]
fn library_random(bencher: Bencher<'_, '_>) {
    let boards = random_boards(100);
    bencher.counter(ItemsCount::new(boards.len())).bench(|| {
        for board in &boards {
            let solution = idastar(
                black_box(board),
                |&board| Move::ALL.map(|next| (board.after(next), 1)),
                |&board| Misplaced.lower_bound(board),
                |board| board.centre().is_some(),
            );
            let (path, cost) = solution.unwrap();
            assert_eq!(path.len(), usize::try_from(cost).unwrap() + 1);
        }
    });
}

#[divan::bench(args = HARDEST, sample_count = 5)]
fn misplaced_hardest(board: &str) {
    solve_all(&[board.parse().unwrap()], &Misplaced);
}

#[divan::bench(args = HARDEST, sample_count = 1)]
fn textbook_hardest(board: &str) {
    let cells = board.bytes().map(|digit| digit - b'0').collect::<Vec<_>>();
    let moves = textbook::solve(black_box(cells.try_into().unwrap()));
    assert_eq!(moves.len(), 13);
}

#[divan::bench(sample_count = 3)]
fn census(bencher: Bencher<'_, '_>) {
    let database = PatternDatabase::build();
    bencher.bench(|| analysis::census(&database, |_| ()));
}
