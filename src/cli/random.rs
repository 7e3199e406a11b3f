use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, BufWriter, Write};

use super::{Failure, Format, write_json};
use crate::analysis::Sampler;
use crate::search::PatternDatabase;

/// Draw boards at random, each as likely as every other
///
/// The same seed draws the same board on every machine and in every version.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How far from solved, in moves [default: any distance]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(Sampler::GREATEST_DISTANCE)), env = "ROTATION_GAME_DISTANCE")]
    distance: Option<u32>,

    /// What the first board is drawn with; each further one takes the next number [default: drawn]
    #[arg(long, value_name = "N", env = "ROTATION_GAME_SEED")]
    seed: Option<u64>,

    /// How many boards
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        env = "ROTATION_GAME_COUNT"
    )]
    count: u64,

    /// How boards are written; as text they are what `rotation-game solve` reads
    #[arg(long, value_enum, default_value_t = Format::Text, env = "ROTATION_GAME_FORMAT")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let database = PatternDatabase::build();
    let sampler = match args.distance {
        None => Sampler::of_all(&database),
        Some(distance) => {
            Sampler::at_distance(&database, distance).expect("clap has checked the range")
        }
    };
    // Below 2^53, so that every reader of JSON can hold it.
    let seed = args
        .seed
        .unwrap_or_else(|| RandomState::new().hash_one(()) >> 11);
    let mut output = BufWriter::new(io::stdout().lock());
    for number in 0..args.count {
        let drawn = sampler.draw(seed.wrapping_add(number));
        match args.format {
            Format::Json => write_json(&mut output, &drawn)?,
            Format::Text => {
                let cells = drawn.board.cells().map(|value| value.to_string());
                writeln!(output, "{}", cells.join(" ")).map_err(Failure::Write)?;
            }
        }
    }
    output.flush().map_err(Failure::Write)
}
