//! The `rotation-game` program. See `rotation-game --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rotation_game::cli::run()
}
