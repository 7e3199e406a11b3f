use std::fs::File;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use proptest::prelude::*;
use rotation_game::Board;

/// Every legal board is as likely as every other.
pub(crate) fn boards() -> impl Strategy<Value = Board> {
    let cells: Vec<i64> = [1, 2, 3].repeat(8);
    Just(cells)
        .prop_shuffle()
        .prop_map(|cells| Board::from_numbers(cells).unwrap())
}

/// The real program, with nothing in its environment that configures it.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rotation-game"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ROTATION_GAME_") {
            command.env_remove(name);
        }
    }
    command
}

/// The real program under limits of open files. The system applies the soft one.
#[cfg(target_os = "linux")]
pub(crate) fn program_with_open_files(soft: usize, hard: usize) -> Command {
    let program = program();
    let limits = format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limits, "sh"]);
    command.arg(program.get_program());
    for (name, _) in program.get_envs() {
        command.env_remove(name);
    }
    command
}

/// Runs the program with this standard input to its end.
pub(crate) fn run(arguments: &[&str], input: impl AsRef<[u8]> + Send) -> Output {
    let mut child = program()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // A program that stops reading early closes the pipe, which is its right.
        scope.spawn(move || drop(stdin.write_all(input.as_ref())));
        child.wait_with_output().unwrap()
    })
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Starts the program with standard error on a terminal, which it returns, and no standard output.
#[cfg(target_os = "linux")]
pub(crate) fn on_terminal(arguments: &[&str]) -> (Child, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = File::options()
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let child = program()
        .args(arguments)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(terminal)
        .spawn()
        .unwrap();
    (child, controller.into())
}
