use std::io;
use std::process::ExitCode;

use thiserror::Error;

use crate::puzzle::judge::{InputError, Position};

/// Why a command ends without success.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error("cannot read {name}: {source}")]
    Read { name: String, source: io::Error },
    #[error("cannot write the answers: {0}")]
    Write(#[source] io::Error),
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(
        "{position}: no solution of at most {max_depth} moves; the shortest takes at least {lower_bound}"
    )]
    DepthCapReached {
        position: Position,
        max_depth: u32,
        lower_bound: u32,
    },
    #[error("{position}: out of time; the shortest solution takes at least {lower_bound} moves")]
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
        #[expect(clippy::print_stderr, reason = "the place where failures are told")]
        {
            eprintln!("error: {self}");
        }
        ExitCode::FAILURE
    }
}
