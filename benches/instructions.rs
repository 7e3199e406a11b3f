//! Work for `scripts/count-instructions`, which has instructions counted in these functions and
//! nothing around them. The argument names the one to run; without it, all tell what they work on.

#![expect(clippy::print_stdout, reason = "the script reads it")]

use std::hint::black_box;

use rotation_game::analysis::Sampler;
use rotation_game::search::{GoalDatabase, Heuristic, Limits, Misplaced, explain, search};
use rotation_game::{Board, PatternDatabase};

/// How many boards each search works on.
const BOARDS: usize = 1000;
/// The same where a board takes longer.
const FEW: usize = 20;

fn main() {
    let database = PatternDatabase::build();
    let sampler = Sampler::of_all(&database);
    let boards: Vec<Board> = (0..)
        .map(|seed| sampler.draw(seed).board)
        .take(BOARDS)
        .collect();
    let few = &boards[..FEW];
    let goal = boards[0];
    // `cargo bench` passes --bench.
    let work = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench");
    match work.as_deref() {
        None => {
            println!("exact_solves {BOARDS} {}", nodes(&boards, &database));
            println!("misplaced_solves {FEW} {}", nodes(few, &Misplaced));
            println!(
                "goal_solves {FEW} {}",
                nodes(few, &GoalDatabase::build(goal.into()))
            );
            println!("boards_read {BOARDS} 0");
            println!("database_builds 1 0");
            println!("goal_database_builds 1 0");
        }
        Some("exact_solves") => exact_solves(&boards, &database),
        Some("misplaced_solves") => misplaced_solves(few),
        Some("goal_solves") => goal_solves(few, &GoalDatabase::build(goal.into())),
        Some("boards_read") => {
            boards_read(&boards.iter().map(ToString::to_string).collect::<Vec<_>>());
        }
        Some("database_builds") => database_builds(),
        Some("goal_database_builds") => goal_database_builds(goal),
        Some(other) => panic!("there is no {other}"),
    }
}

fn nodes<H: Heuristic>(boards: &[Board], heuristic: &H) -> u64 {
    let nodes = boards
        .iter()
        .map(|&board| explain(board, heuristic, Limits::NONE).1.nodes);
    nodes.sum()
}

fn solve_all<H: Heuristic>(boards: &[Board], heuristic: &H) {
    for &board in boards {
        black_box(search(black_box(board), heuristic, Limits::NONE));
    }
}

#[inline(never)]
fn exact_solves(boards: &[Board], database: &PatternDatabase) {
    solve_all(boards, database);
}

#[inline(never)]
fn misplaced_solves(boards: &[Board]) {
    solve_all(boards, &Misplaced);
}

#[inline(never)]
fn goal_solves(boards: &[Board], database: &GoalDatabase) {
    solve_all(boards, database);
}

#[inline(never)]
fn boards_read(boards: &[String]) {
    for board in boards {
        let _ = black_box(black_box(board).parse::<Board>());
    }
}

#[inline(never)]
fn database_builds() {
    black_box(PatternDatabase::build());
}

#[inline(never)]
fn goal_database_builds(goal: Board) {
    black_box(GoalDatabase::build(goal.into()));
}
