//! The command line: what can be asked, one file a command, and how it ends.

mod census;
mod failure;
mod progress;
mod solve;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

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
