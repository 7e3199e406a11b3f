use std::io::{self, Write};
use std::process::ExitCode;

use thiserror::Error;

use super::address::Address;
use crate::puzzle::IllegalBoard;
use crate::puzzle::judge::{InputError, Position};

/// Why a command ends without success.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error("cannot read {name}: {source}")]
    Read { name: String, source: io::Error },
    #[error("cannot read {name}: {source}; nor is it a board: {illegal}")]
    NoInput {
        name: String,
        source: io::Error,
        illegal: IllegalBoard,
    },
    #[error("cannot {what}: {source}")]
    Start {
        what: &'static str,
        source: io::Error,
    },
    #[error(
        "cannot listen on {address}: {}; choose another with {flag}",
        match source.kind() {
            io::ErrorKind::AddrInUse => "address already in use".to_owned(),
            _ => source.to_string(),
        }
    )]
    Listen {
        address: Address,
        flag: &'static str,
        source: io::Error,
    },
    #[error("the server at {address} is not ready: {source}")]
    Unhealthy { address: Address, source: io::Error },
    #[error("cannot write the answers: {0}")]
    Write(#[source] io::Error),
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(
        "{position}: no solution within {max_depth} move{}; the shortest has at least {lower_bound}",
        if *max_depth == 1 { "" } else { "s" }
    )]
    DepthCapReached {
        position: Position,
        max_depth: u32,
        lower_bound: u32,
    },
    #[error("{position}: search timed out; the shortest solution has at least {lower_bound} moves")]
    TimedOut {
        position: Position,
        lower_bound: u32,
    },
}

impl Failure {
    /// Tells the user, unless nobody wants to know, and gives the exit status.
    pub(super) fn report(&self) -> ExitCode {
        if let Self::Write(error) = self
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            // Who read the answers has seen enough.
            return ExitCode::SUCCESS;
        }
        // Where standard error is closed or full, the status still tells.
        let _ = writeln!(io::stderr(), "error: {self}");
        ExitCode::FAILURE
    }
}
