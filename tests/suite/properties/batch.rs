//! `POST /solve/batch`.

use std::fmt::Write;

use http::StatusCode;
use rotation_game::http::Code;
use rotation_game::puzzle::judge::Answer;
use serde_json::Value;

use super::client::{Response, Told, post};
use super::judge::Read;
use super::{DATABASE, pieces, plain, solve};

/// The most bytes of a line.
const LINE_LIMIT: usize = 4096;

/// How many lines are asked one by one too.
const ASKED: usize = 8;

/// Inputs up to here are also sent byte by byte.
const SHORT: usize = 256;

/// Sends the input, as lines of JSON and as the judge's text.
pub(crate) fn check(input: &[u8]) {
    lines(input);
    text(input);
}

/// Pieces of the input in which it is sent.
fn cuts(input: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let bytes = (input.len() <= SHORT).then(|| input.chunks(1).collect());
    std::iter::once(pieces(input)).chain(bytes)
}

/// Each line that is not blank has its answer, in order, whatever pieces it comes in.
fn lines(input: &[u8]) {
    let lines: Vec<(usize, &[u8])> = plain::unmarked(input)
        .split(|&byte| byte == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .collect();
    let answers = answers(&[input]);
    assert_eq!(answers.len(), lines.len());
    for pieces in cuts(input) {
        let again = self::answers(&pieces);
        assert_eq!(again.len(), lines.len());
        for (told, again) in answers.iter().zip(&again) {
            assert!(told.is_as(again), "{told:?}\n{again:?}");
        }
    }
    for ((index, line), told) in lines.iter().zip(&answers) {
        if let Told::Problem(_, body) = told {
            assert_eq!(body["line"], index + 1, "{body}");
        }
        let is_refused = matches!(told, Told::Problem(Code::PayloadTooLarge, _));
        let mark = if *index == 0 {
            input.len() - plain::unmarked(input).len()
        } else {
            0
        };
        assert_eq!(is_refused, mark + line.len() > LINE_LIMIT, "{told:?}");
    }
    for ((_, line), told) in lines.iter().zip(&answers).take(ASKED) {
        alone(line, told);
    }
}

/// A line is answered as a request of its own is.
fn alone(line: &[u8], told: &Told) {
    let is_object = line.trim_ascii_start().starts_with(b"{");
    let request = if is_object {
        line.to_vec()
    } else if serde_json::from_slice::<Value>(line).is_ok() {
        [b"{\"board\":", line, b"}"].concat()
    } else {
        return;
    };
    if request.len() > LINE_LIMIT {
        return;
    }
    let alone = solve::ask(&[&request]);
    match (told, &alone) {
        // The places in it are others.
        (Told::Problem(Code::InvalidRequest, _), Told::Problem(Code::InvalidRequest, _))
            if !is_object => {}
        _ => assert!(told.is_as(&alone), "{told:?}\n{alone:?}"),
    }
}

pub(super) fn answers(pieces: &[&[u8]]) -> Vec<Told> {
    let response = post("/solve/batch", "application/x-ndjson", pieces);
    assert_eq!(response.status, StatusCode::OK);
    assert!(response.body.is_empty() || response.body.ends_with(b"\n"));
    let lines = response.body.split_inclusive(|&byte| byte == b'\n');
    let answers: Vec<Told> = lines.map(Told::new).collect();
    // A batch waits.
    let is_refused = |told: &Told| matches!(told, Told::Problem(Code::Overloaded, _));
    assert!(!answers.iter().any(is_refused), "{answers:?}");
    answers
}

/// The judge's text is answered as the library does, whatever pieces it comes in.
pub(super) fn text(input: &[u8]) {
    let Read { boards, error, .. } = Read::new(&[input]);
    for pieces in [vec![input]].into_iter().chain(cuts(input)) {
        let response = post("/solve/batch", "text/plain", &pieces);
        match &error {
            Some(error) if boards.is_empty() => {
                let Told::Problem(code, body) = response.told() else {
                    panic!("{:?}", response.body);
                };
                assert_eq!(code, Code::InvalidBoard);
                assert_eq!(body["detail"], error.to_string());
            }
            error => {
                let mut expected = String::new();
                for &(board, _) in &boards {
                    let solution = DATABASE.solve(board);
                    let (moves, centre) = (&solution.moves, solution.centre);
                    write!(expected, "{}", Answer { moves, centre }).unwrap();
                }
                if let Some(error) = error {
                    writeln!(expected, "error: {error}").unwrap();
                }
                let Response { status, body, .. } = response;
                assert_eq!(status, StatusCode::OK);
                assert_eq!(std::str::from_utf8(&body), Ok(expected.as_str()));
            }
        }
    }
}
