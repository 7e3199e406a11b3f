//! `rotation-game solve` as its users see it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::Stdio;

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{on_terminal, program, run, text};

const FIRST: &str = "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3";
const SECOND: &str = "1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3";
const SOLVED: &str = "2 2 2 2 2 2 1 1 1 2 2 1 1 3 3 1 1 1 3 3 3 3 3 3";
const HARDEST: &str = "1 1 2 3 2 3 2 3 3 2 3 2 1 1 1 2 1 1 1 2 2 3 3 3";

/// A file in the system's temporary folder that goes with the test.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, content: &[u8]) -> Self {
        let path =
            std::env::temp_dir().join(format!("rotation-game-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_file_is_read_like_standard_input() {
    let input = format!("{FIRST}\n{SOLVED}\n0\n");
    let file = TemporaryFile::new("two-boards", input.as_bytes());
    let by_file = run(&["solve", file.0.to_str().unwrap()], "");
    let by_dash = run(&["solve", "-"], &input);
    let by_default = run(&["solve"], &input);
    assert_eq!(text(&by_file.stdout), "AC\n2\nNo moves needed\n1\n");
    assert_eq!(by_file, by_dash);
    assert_eq!(by_file, by_default);
}

#[test]
fn boards_are_also_read_as_24_digits_in_one_token() {
    let digits = FIRST.replace(' ', "");
    let input = format!("{digits}\n{SOLVED} {digits}\n0\n");
    let answers = "AC\n2\nNo moves needed\n1\nAC\n2\n";
    assert_eq!(text(&run(&["solve"], &input).stdout), answers);
}

#[test]
fn solve_takes_a_board_as_its_argument_where_no_file_has_the_name() {
    for board in [FIRST, &FIRST.replace(' ', "")] {
        assert_eq!(text(&run(&["solve", board], "").stdout), "AC\n2\n");
    }
    let neither = run(&["solve", "11113232313223122231213"], "");
    assert_eq!(
        text(&neither.stderr),
        "error: cannot read 11113232313223122231213: No such file or directory (os error 2); \
         nor is it a board: a board has 24 cells, here are 23\n"
    );
    let name = FIRST.replace(' ', "");
    let folder = std::env::temp_dir().join(format!("rotation-game-{}-files", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(&name), SOLVED).unwrap();
    let file = program()
        .args(["solve", &name])
        .current_dir(&folder)
        .output();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(text(&file.unwrap().stdout), "No moves needed\n1\n");
}

#[rstest]
#[case::not_a_number(
    "1 x 1",
    "board 2, line 2, column 6: the input ends early: a board has 24 cells, here are 3; cell 1 is \"x\", not 1, 2 or 3"
)]
#[case::out_of_range(
    "4 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3",
    "board 2, line 2, column 1: cell 0 is 4, not 1, 2 or 3"
)]
#[case::counts(
    "1 1 1 1 1 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3",
    "board 2, line 2, column 1: value 1 stands on 9 cells, not on 8; value 3 stands on 7 cells, not on 8"
)]
#[case::cut_short(
    "1 1 1 1",
    "board 2, line 2, column 8: the input ends early: a board has 24 cells, here are 4"
)]
#[case::binary(
    "\u{0}\u{7}",
    "board 2, line 2, column 3: the input ends early: a board has 24 cells, here are 1; cell 0 is \"\\0\\u{7}\", not 1, 2 or 3"
)]
fn bad_input_ends_with_one_message_after_the_answers_so_far(
    #[case] bad: &str,
    #[case] message: &str,
) {
    let run = run(&["solve"], format!("{FIRST}\n{bad}"));
    assert_eq!(text(&run.stdout), "AC\n2\n");
    assert_eq!(text(&run.stderr).trim_end(), format!("error: {message}"));
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn invalid_utf8_is_told_not_choked_on() {
    let run = run(&["solve"], b"\xff\xfe");
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).starts_with("error: board 1, line 1, column 3: "),
        "{run:?}"
    );
}

#[test]
fn json_is_one_object_a_line() {
    let run = run(&["solve", "--format", "json"], format!("{FIRST} {SOLVED}"));
    assert_eq!(
        text(&run.stdout),
        "{\"moves\":\"AC\",\"length\":2,\"centre\":2}\n{\"moves\":\"\",\"length\":0,\"centre\":1}\n"
    );
}

#[test]
fn explain_tells_nodes_time_and_iterations() {
    let explained = |heuristic| -> Value {
        let arguments = [
            "solve",
            "--format",
            "json",
            "--explain",
            "--heuristic",
            heuristic,
        ];
        serde_json::from_slice(&run(&arguments, FIRST).stdout).unwrap()
    };
    let mut exact = explained("pattern-database");
    assert!(exact["search"]["elapsed_us"].is_u64());
    exact["search"]["elapsed_us"] = json!(1);
    assert_eq!(
        exact,
        json!({
            "moves": "AC", "length": 2, "centre": 2,
            "search": {
                "heuristic": "pattern-database", "nodes": 3, "elapsed_us": 1,
                "iterations": [{"bound": 2, "nodes": 3}]
            }
        })
    );
    assert_eq!(explained("misplaced")["search"]["heuristic"], "misplaced");
}

#[test]
fn a_board_beyond_the_cap_is_an_error_that_names_the_lower_bound() {
    let run = run(
        &["solve", "--max-depth", "3"],
        format!("{FIRST}\n{SECOND}\n{SOLVED}"),
    );
    assert_eq!(text(&run.stdout), "AC\n2\n");
    assert_eq!(
        text(&run.stderr),
        "error: board 2, line 2, column 1: no solution within 3 moves; the shortest has at least 4\n"
    );
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn a_board_out_of_time_is_an_error_that_names_the_lower_bound() {
    let arguments = ["solve", "--heuristic", "misplaced", "--timeout", "2ms"];
    let run = run(&arguments, format!("{FIRST}\n {HARDEST}"));
    assert_eq!(text(&run.stdout), "AC\n2\n");
    let message = text(&run.stderr);
    let start =
        "error: board 2, line 2, column 2: search timed out; the shortest solution has at least ";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn building_the_table_is_not_part_of_a_boards_time() {
    let run = run(&["solve", "--timeout", "1ms"], FIRST);
    assert_eq!(text(&run.stdout), "AC\n2\n", "{run:?}");
}

#[test]
fn a_cap_beyond_all_reason_is_fine() {
    let run = run(&["solve", "--max-depth", "4000000000"], HARDEST);
    assert_eq!(text(&run.stdout), "AAABGAHBDDDHB\n1\n");
}

#[cfg(target_os = "linux")]
#[test]
fn answers_and_messages_that_cannot_be_written_end_it_with_status_1() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let file = TemporaryFile::new("full", FIRST.as_bytes());
    let output = program()
        .arg("solve")
        .arg(&file.0)
        .stdout(full())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).starts_with("error: cannot write the answers: "),
        "{output:?}"
    );

    let bad = TemporaryFile::new("full-bad", b"x");
    let status = program()
        .arg("solve")
        .arg(&bad.0)
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

#[rstest]
#[case("ROTATION_GAME_MAX_DEPTH", "deep")]
#[case("ROTATION_GAME_HEURISTIC", "none")]
#[case("ROTATION_GAME_EXPLAIN", "perhaps")]
fn a_bad_value_in_the_environment_is_wrong_usage(#[case] name: &str, #[case] value: &str) {
    let output = program().arg("solve").env(name, value).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[rstest]
#[case::unknown_option(&["solve", "--fast"])]
#[case::unknown_command(&["sovle"])]
#[case::bad_format(&["solve", "--format", "xml"])]
#[case::bad_heuristic(&["solve", "--heuristic", "none"])]
#[case::bad_depth(&["solve", "--max-depth", "-1"])]
#[case::bad_timeout(&["solve", "--timeout", "soon"])]
#[case::two_files(&["solve", "a", "b"])]
#[case::explain_as_text(&["solve", "--explain"])]
fn wrong_usage_is_told_and_ends_with_status_2(#[case] arguments: &[&str]) {
    let run = run(arguments, "");
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    assert!(text(&run.stderr).starts_with("error: "), "{run:?}");
    assert!(run.stdout.is_empty());
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    for name in ["no/such/file", "."] {
        let run = run(&["solve", name], "");
        assert!(
            text(&run.stderr).starts_with(&format!("error: cannot read {name}: ")),
            "{run:?}"
        );
        assert_eq!(run.status.code(), Some(1));
    }
}

#[test]
fn options_can_be_given_by_the_environment() {
    let file = TemporaryFile::new("environment", FIRST.as_bytes());
    let output = program()
        .arg("solve")
        .arg(&file.0)
        .env("ROTATION_GAME_FORMAT", "json")
        .env("ROTATION_GAME_HEURISTIC", "misplaced")
        .env("ROTATION_GAME_MAX_DEPTH", "2")
        .env("ROTATION_GAME_TIMEOUT", "1min")
        .env("ROTATION_GAME_EXPLAIN", "1")
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["search"]["heuristic"], "misplaced");
}

#[test]
fn an_answer_does_not_wait_for_the_rest_of_the_input() {
    let mut child = program()
        .arg("solve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (board, moves, centre) in [(FIRST, "AC", "2"), (SECOND, "DDHH", "2")] {
        writeln!(stdin, "{board}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), moves);
        assert_eq!(answers.next().unwrap().unwrap(), centre);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn nothing_is_read_behind_the_terminating_0() {
    let mut child = program()
        .arg("solve")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{FIRST}\n0").unwrap();
    // The pipe is still open, and the program ends all the same.
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let input = format!("{SECOND}\n").repeat(200_000);
    let file = TemporaryFile::new("closed-pipe", input.as_bytes());
    let mut child = program()
        .arg("solve")
        .arg(&file.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert_eq!(first, "DDHH\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_input() {
    let mut child = program()
        .arg("solve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let reading = std::thread::spawn(move || {
        let mut answers = String::new();
        stdout.read_to_string(&mut answers).unwrap();
        answers.lines().count()
    });
    let boards = format!("{SECOND}\n").repeat(1000);
    let mut peak_kib = || -> u64 {
        stdin.write_all(boards.as_bytes()).unwrap();
        let status = std::fs::read_to_string(&status).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let peaks: Vec<u64> = (0..200).map(|_| peak_kib()).collect();
    drop(stdin);
    assert_eq!(reading.join().unwrap(), 400_000);
    assert!(child.wait().unwrap().success());
    assert!(peaks[199] < peaks[20] + 1024, "{peaks:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_file_shows_a_progress_bar_on_a_terminal_and_a_short_one_does_not() {
    let board = format!("{SECOND}\n");
    let long = TemporaryFile::new("long", board.repeat(100_000).as_bytes());
    let short = TemporaryFile::new("short", board.as_bytes());
    let shown = |file: &TemporaryFile| {
        let (mut child, mut terminal) = on_terminal(&["solve", file.0.to_str().unwrap()]);
        let mut shown = Vec::new();
        // Reading ends with an error when the last writer, the program, is gone.
        let _ = terminal.read_to_end(&mut shown);
        assert!(child.wait().unwrap().success());
        String::from_utf8_lossy(&shown).into_owned()
    };
    assert!(shown(&long).contains("MiB"));
    assert_eq!(shown(&short), "");
}
