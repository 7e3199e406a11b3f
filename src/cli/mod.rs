//! The command line: what can be asked, one file a command, and how it ends.

mod address;
mod bounds;
mod census;
mod failure;
mod healthcheck;
#[cfg(unix)]
mod open_files;
mod origins;
mod progress;
mod random;
mod replay;
mod serve;
mod show;
mod signals;
mod solve;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use serde::Serialize;

use crate::search::HeuristicKind;

use failure::Failure;

/// Solves the Rotation Game (POJ 2286, UVA 1343): the shortest, lexicographically smallest moves
/// that fill the centre of the # with one value.
#[derive(Debug, Parser)]
#[command(
    name = "rotation-game",
    version,
    max_term_width = 100,
    override_usage = "rotation-game [COMMAND] [OPTIONS]",
    after_help = "Without a command it serves. `rotation-game serve --help` lists the options of the server."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Solve(solve::Args),
    Census(census::Args),
    Random(random::Args),
    Show(show::Args),
    Replay(replay::Args),
    Healthcheck(healthcheck::Args),
}

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people and judges
    Text,
    /// For programs
    Json,
}

/// Writes a line of JSON.
fn write_json(output: &mut impl Write, answer: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *output, answer)
        .map_err(io::Error::from)
        .and_then(|()| output.write_all(b"\n"))
        .map_err(Failure::Write)
}

/// Puts `serve` where no command is: before its options, or alone.
fn with_default_command(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<_> = args.collect();
    let is_command_missing = args.get(1).is_none_or(|first| {
        let first = first.to_string_lossy();
        first.starts_with('-') && !["-h", "--help", "-V", "--version"].contains(&&*first)
    });
    if is_command_missing {
        args.insert(args.len().min(1), "serve".into());
    }
    args
}

/// Makes an empty environment variable the same as none, since Compose passes unset ones as empty.
fn ignore_empty_variables(cli: clap::Command) -> clap::Command {
    let ignore_if_empty = |arg: Arg| {
        let value = arg.get_env().and_then(env::var_os);
        if value.is_some_and(|value| value.is_empty()) {
            arg.env(None)
        } else {
            arg
        }
    };
    cli.mut_subcommands(|command| command.mut_args(ignore_if_empty))
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
    let cli = ignore_empty_variables(Cli::command());
    let matches = cli.get_matches_from(with_default_command(env::args_os()));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match cli.command {
        Command::Serve(args) => serve::run(args),
        Command::Healthcheck(args) => healthcheck::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Census(args) => census::run(&args),
        Command::Random(args) => random::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Replay(args) => replay::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
