//! Solves random boards to random full boards, each goal with tables of its own, and tells how long
//! it took: `cargo run --release --example goal_pairs -- 1000`.

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::error::Error;
use std::time::{Duration, Instant};

use rotation_game::PatternDatabase;
use rotation_game::analysis::Sampler;
use rotation_game::search::{GoalDatabase, Limits, Outcome, explain};

fn main() -> Result<(), Box<dyn Error>> {
    let pairs: u64 = std::env::args().nth(1).map_or(Ok(100), |it| it.parse())?;
    let usual = PatternDatabase::build();
    let sampler = Sampler::of_all(&usual);
    let (mut building, mut searching) = (Vec::new(), Vec::new());
    let (mut nodes, mut lengths) = (Vec::new(), [0_u64; 33]);
    for pair in 0..pairs {
        let [board, goal] = [2 * pair, 2 * pair + 1].map(|seed| sampler.draw(seed).board);
        let started = Instant::now();
        let database = GoalDatabase::build(goal.into());
        building.push(started.elapsed());
        let started = Instant::now();
        let (outcome, explanation) = explain(board, &database, Limits::NONE);
        searching.push(started.elapsed());
        let Outcome::Solved(solution) = outcome else {
            return Err(format!("{board} to {goal}: {outcome:?}").into());
        };
        nodes.push(explanation.nodes);
        lengths[solution.moves.len()] += 1;
    }
    let total: Vec<Duration> = building
        .iter()
        .zip(&searching)
        .map(|(a, b)| *a + *b)
        .collect();
    println!("of {pairs} pairs:  median  95 %  greatest");
    println!("tables         {:?}", percentiles(building));
    println!("search         {:?}", percentiles(searching));
    println!("both           {:?}", percentiles(total));
    println!("nodes          {:?}", percentiles(nodes));
    for (length, count) in lengths.iter().enumerate().filter(|(_, count)| **count > 0) {
        println!("length {length:2}: {count}");
    }
    Ok(())
}

/// The median, the 95th percentile and the greatest.
fn percentiles<T: Ord + Copy>(mut sample: Vec<T>) -> Option<[T; 3]> {
    sample.sort_unstable();
    let last = sample.len().checked_sub(1)?;
    Some([last / 2, last * 95 / 100, last].map(|index| sample[index]))
}
