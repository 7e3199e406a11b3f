//! `rotation-game random`, `show` and `replay` as their users see them.

use rstest::rstest;
use serde_json::Value;

use crate::running::Server;
use crate::support::{run, text};

const BOARD: &str = "111132323132231222312133";

#[rstest]
#[case(&["random", "--distance", "9", "--seed", "42"], "/boards/random?distance=9&seed=42")]
#[case(&["random", "--seed", "7"], "/boards/random?seed=7")]
#[case(&["show", BOARD], "/boards/111132323132231222312133")]
#[case(&["replay", BOARD, "ACHF"], "/boards/111132323132231222312133/replay/ACHF")]
fn json_is_the_body_of_the_api(#[case] arguments: &[&str], #[case] path: &str) {
    let server = Server::start(&[]);
    let printed = run(&[arguments, &["--format", "json"]].concat(), "");
    assert_eq!(text(&printed.stdout).trim_end(), server.get(path).body);
}

#[test]
fn random_boards_can_be_solved_and_take_seeds_that_follow_each_other() {
    let boards = run(
        &["random", "--distance", "4", "--seed", "10", "--count", "5"],
        "",
    );
    let solved = run(&["solve", "--format", "json"], &boards.stdout);
    let solutions: Vec<Value> = text(&solved.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(solutions.len(), 5);
    assert!(solutions.iter().all(|solution| solution["length"] == 4));
    let third = run(&["random", "--distance", "4", "--seed", "12"], "");
    assert_eq!(
        text(&boards.stdout).lines().nth(2),
        text(&third.stdout).lines().next()
    );
    let (one, other) = (run(&["random"], ""), run(&["random"], ""));
    assert_ne!(one.stdout, other.stdout);
}

#[test]
fn boards_are_read_as_random_prints_them() {
    let spaced = run(&["random", "--seed", "7"], "");
    let spaced = text(&spaced.stdout);
    let digits = spaced.replace(char::is_whitespace, "");
    for command in [&["show"][..], &["replay"]] {
        let printed = |board: &str| {
            let moves: &[&str] = if command == ["show"] { &[] } else { &["aCh"] };
            let run = run(&[command, &[board], moves].concat(), "");
            assert!(run.status.success(), "{run:?}");
            text(&run.stdout).to_owned()
        };
        assert_eq!(printed(spaced), printed(&digits));
    }
}

#[test]
fn a_board_is_shown_as_the_statement_draws_it() {
    let shown = run(&["show", BOARD], "");
    let expected = "         A   B
         1   1
         1   1
 H - 3 2 3 2 3 1 3 - C
         2   2
 G - 3 1 2 2 2 3 1 - D
         2   1
         3   3
         F   E

distance   2 (to 1: 12, to 2: 2, to 3: ";
    assert!(
        text(&shown.stdout).starts_with(expected),
        "{}",
        text(&shown.stdout)
    );
    assert!(
        text(&shown.stdout)
            .contains("solution   AC, with 2 in the centre (shortest solutions: 1)\n")
    );
    assert!(text(&shown.stdout).contains("moves      A closer"));
    assert!(
        !text(&shown.stdout).contains('\u{1b}'),
        "no colour where it is no terminal"
    );
}

#[rstest]
#[case("AC", "solved, with 2 in the centre: the judge's answer")]
#[case("AFAC", "solved, with 2 in the centre: not as short as can be")]
#[case("A", "not solved: 1 moves to go")]
fn a_replay_ends_with_a_verdict(#[case] moves: &str, #[case] verdict: &str) {
    let replayed = run(&["replay", BOARD, moves], "");
    let lines: Vec<&str> = text(&replayed.stdout).lines().collect();
    assert_eq!(
        (lines.len(), lines[lines.len() - 1]),
        (moves.len() + 1, verdict)
    );
}

#[rstest]
#[case(&["show", "123"], "a board has 24 cells, here are 3")]
#[case(&["replay", BOARD, "AxBy"], "move 1 is 'x', not a letter from A to H; move 3 is 'y', not a letter from A to H")]
#[case(&["random", "--distance", "14"], "14 is not in 0..=13")]
fn wrong_usage_is_told(#[case] arguments: &[&str], #[case] message: &str) {
    let run = run(arguments, "");
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains(message), "{run:?}");
}

#[rstest]
#[case(&["replay", BOARD, "xxxxxxxxxxxxxxxxxxxxxxxxx"], "", "; and 9 more")]
#[case(&["show", "xxxxxxxxxxxxxxxxxxxxxxxx"], "", "; and 8 more")]
#[case(&["replay", BOARD, "A", "--goal", "xxxxxxxxxxxxxxxxxxxxxxxx"], "", "; and 8 more")]
#[case(&["solve"], "x x x x x x x x x x x x x x x x x x x x x x x x", "; and 8 more")]
fn an_error_lists_16_faults_and_counts_the_rest(
    #[case] arguments: &[&str],
    #[case] input: &str,
    #[case] end: &str,
) {
    let errors = run(arguments, input).stderr;
    let errors = text(&errors);
    let line = errors.lines().next().unwrap();
    assert_eq!(line.matches(", not ").count(), 16, "{line}");
    assert!(line.ends_with(end), "{line}");
}
