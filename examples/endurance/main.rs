//! Shows that the service holds, under overload and over time: `scripts/endurance` builds and runs
//! it, docs/reliability.md says what it promises. It starts a server of its own, and ends with
//! status 1 if a promise is broken.

#![expect(clippy::print_stdout, reason = "it is what the program is for")]

mod batches;
mod beside;
mod boards;
mod client;
mod contract;
mod known_batch;
mod leaving;
mod mix;
mod overload;
mod report;
mod request_storm;
mod requests;
mod server;
mod slow;
mod soak;
mod storms;
mod unread;
mod verdict;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use report::Report;
use server::Server;

/// What went wrong, where it is not a promise that is broken.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Starts a server, loads it, and tells which promises it keeps
#[derive(Parser)]
#[command(name = "endurance", max_term_width = 100)]
struct Cli {
    /// The program to start
    #[arg(
        long,
        value_name = "PATH",
        default_value = "target/release/rotation-game"
    )]
    program: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Overload(overload::Args),
    Soak(soak::Args),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(report) => report.end(),
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(Cli { program, command }: Cli) -> Result<Report> {
    let mut report = Report::default();
    let options = match &command {
        Command::Overload(args) => &args.server,
        Command::Soak(args) => &args.server,
    };
    let server = Server::start(&program, options).await?;
    match &command {
        Command::Overload(args) => overload::run(args, &server, &mut report).await?,
        Command::Soak(args) => soak::run(args, &server, &mut report).await?,
    }
    server.end(&mut report).await?;
    Ok(report)
}
