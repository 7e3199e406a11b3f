use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use super::{Failure, Format, write_json};
use crate::analysis::{GoalReplay, Replay, replay};
use crate::puzzle::{Board, FaultList, Goal, Move, read_moves};
use crate::search::PatternDatabase;

/// Make moves on a board, and tell how good they are
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The 24 cells in order, as digits, with or without spaces or commas between them
    board: Board,

    /// The moves, first to last
    moves: Moves,

    /// A goal that the moves may reach: centre, or a pattern of 24 characters, each
    /// 1, 2, 3 or . for any
    #[arg(long, env = "ROTATION_GAME_GOAL")]
    goal: Option<Goal>,

    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Text, env = "ROTATION_GAME_FORMAT")]
    format: Format,
}

#[derive(Clone, Debug)]
struct Moves(Vec<Move>);

impl FromStr for Moves {
    type Err = String;

    fn from_str(letters: &str) -> Result<Self, String> {
        read_moves(letters)
            .map(Self)
            .map_err(|errors| FaultList(errors.iter()).to_string())
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let database = PatternDatabase::build();
    let replay = replay(&database, args.board, &args.moves.0, args.goal);
    let mut output = io::stdout().lock();
    match args.format {
        Format::Json => write_json(&mut output, &replay),
        Format::Text => write!(output, "{}", Report(&replay)).map_err(Failure::Write),
    }
}

/// A replay for people, a line a move.
struct Report<'a>(&'a Replay);

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replay = self.0;
        for step in &replay.steps {
            let (made, board, distance) = (step.made, step.board, step.distance);
            writeln!(f, "{made}  {board}  {distance:2} to go, {}", step.effect)?;
        }
        if let Some(GoalReplay {
            goal,
            reached_after,
            ..
        }) = replay.goal
        {
            match reached_after {
                Some(moves) => writeln!(f, "{goal} is reached after {moves} moves")?,
                None => writeln!(f, "{goal} is not reached")?,
            }
        }
        let verdict = match replay.centre {
            None => return writeln!(f, "not solved: {} moves to go", replay.distance),
            Some(_) if replay.lexicographically_smallest => "the judge's answer",
            Some(_) if replay.optimal => "as short as can be, but not the smallest",
            Some(_) => "not as short as can be",
        };
        let centre = replay
            .centre
            .map_or_else(String::new, |value| value.to_string());
        writeln!(f, "solved, with {centre} in the centre: {verdict}")
    }
}
