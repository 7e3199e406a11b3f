use std::fmt;
use std::io::{self, Write};

use super::{Failure, Format, progress};
use crate::analysis::{self, BOARDS, Census, census};
use crate::search::PatternDatabase;

/// Count all 9,465,511,770 boards by the length of their shortest solution
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How the counts are written
    #[arg(long, value_enum, default_value_t = Format::Text, env = "ROTATION_GAME_FORMAT")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let progress = progress::of_boards(BOARDS);
    let census = census(&PatternDatabase::build(), |boards| progress.inc(boards));
    progress.finish_and_clear();
    let mut output = io::stdout().lock();
    match args.format {
        Format::Text => write!(output, "{}", Table(&census)),
        Format::Json => serde_json::to_writer_pretty(&mut output, &census)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(output)),
    }
    .map_err(Failure::Write)
}

/// A census for people, a bar for each row.
struct Table<'a>(&'a Census);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BAR_WIDTH: f64 = 40.0;
        let Census {
            boards,
            mean,
            tie_share,
            distances,
        } = self.0;
        let most = distances.iter().map(|row| row.boards).max().unwrap_or(1);
        writeln!(f, "distance      boards     share")?;
        for row in distances {
            let share = analysis::ratio(row.boards, *boards) * 100.0;
            let bar = analysis::ratio(row.boards, most) * BAR_WIDTH;
            write!(f, "{:8}  {:10}  {share:6.3} %", row.distance, row.boards)?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "0 to 40"
            )]
            match bar.round() as usize {
                0 => writeln!(f)?,
                length => writeln!(f, "  {}", "#".repeat(length))?,
            }
        }
        writeln!(f, "{:>8}  {boards:10}", "all")?;
        writeln!(f)?;
        writeln!(f, "mean distance: {mean:.4}")?;
        writeln!(
            f,
            "ties: on {:.1} % of the boards two or three values are equally near",
            tie_share * 100.0
        )
    }
}
