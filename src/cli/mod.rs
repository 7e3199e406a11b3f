//! The command line: what can be asked, one file a command, and how it ends.

mod census;
mod failure;
mod progress;
mod solve;

use std::process::ExitCode;

use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use crate::search::HeuristicKind;

use failure::Failure;

/// Solves the Rotation Game (POJ 2286, UVA 1343): the shortest, lexicographically smallest moves
/// that fill the centre of the # with one value.
#[derive(Debug, Parser)]
#[command(name = "rotation-game", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Solve(solve::Args),
    Census(census::Args),
}

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people and judges
    Text,
    /// For programs
    Json,
}

/// Ends the program as clap does where options do not fit together.
fn usage_error(command: &str, message: &str) -> ! {
    let mut cli = Cli::command();
    cli.build();
    let kind = ErrorKind::ArgumentConflict;
    match cli.find_subcommand_mut(command) {
        Some(command) => command.error(kind, message).exit(),
        None => cli.error(kind, message).exit(),
    }
}

impl ValueEnum for HeuristicKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::PatternDatabase => "Exact distances from a table",
            Self::Misplaced => "8 less the count of the most frequent centre value",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

/// Runs the program with the arguments and the environment of this process.
///
/// The status is 0 for success, 1 for a failure and 2 for wrong usage; a message on standard
/// error says why.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Some(Command::Solve(args)) => solve::run(&args),
        Some(Command::Census(args)) => census::run(&args),
        None => Cli::command().print_help().map_err(Failure::Write),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
