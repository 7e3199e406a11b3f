//! Requests whose boards and goals are legal, as bytes by themselves seldom are: the input says which.

use serde_json::{Value, json};

use super::client::MAX_DEPTH;
use super::{batch, pieces, plain, solve};

/// How many bytes say what a request is.
const LENGTH: usize = 32;

/// The most requests of an input.
const REQUESTS: usize = 6;

/// Sends each request by itself and all as a batch, which comes to the same, and the boards as the
/// judge's text.
pub(crate) fn check(input: &[u8]) {
    let chunks = input.chunks(LENGTH).take(REQUESTS);
    let (requests, boards): (Vec<Value>, Vec<String>) = chunks.map(request).unzip();
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    let answers = batch::answers(&pieces(lines.join("\n").as_bytes()));
    assert_eq!(answers.len(), requests.len());
    for (request, told) in requests.iter().zip(&answers) {
        let alone = solve::ask(&[request.to_string().as_bytes()]);
        assert!(told.is_as(&alone), "{told:?}\n{alone:?}");
        solve::answers(told, request);
        solve::answers(&alone, request);
    }
    batch::text(boards.join("\n").as_bytes());
}

/// A request, and its board as the judge writes it.
fn request(bytes: &[u8]) -> (Value, String) {
    let byte = |place: usize| bytes.get(place).copied().unwrap_or(0);
    let cells = plain::shuffled(bytes);
    let [kind, cap, moves @ .., low, middle, high] =
        std::array::from_fn::<_, 7, _>(|i| byte(23 + i));
    let mut request = json!({"board": plain::print(&cells), "explain": kind & 1 == 1});
    if kind & 2 == 2 {
        request["board"] = json!(cells);
    }
    // One in a few is too great.
    if u32::from(cap) < MAX_DEPTH * 5 / 4 {
        request["max_depth"] = json!(cap);
    }
    let mut is_misplaced = kind & 4 == 4;
    if kind >= 0xc0 {
        let kept = u32::from_le_bytes([low, middle, high, 0]);
        request["goal"] = json!(near(cells, moves, kept));
        // To make tables takes a thousand times as long as the rest.
        is_misplaced = kind & 0x3c != 0;
    }
    if is_misplaced {
        request["heuristic"] = json!("misplaced");
    }
    let numbers = cells.map(|value| value.to_string());
    (request, numbers.join(" "))
}

/// What some cells hold after four moves.
fn near(cells: plain::Cells, moves: [u8; 2], kept: u32) -> String {
    let moves = moves.into_iter().flat_map(|byte| [byte & 7, byte >> 4 & 7]);
    let after = moves.fold(cells, |cells, index| {
        let (_, line) = &plain::LINES[usize::from(index)];
        plain::turn(cells, line)
    });
    let values = plain::print(&after);
    let kept = values
        .char_indices()
        .map(|(cell, value)| if kept >> cell & 1 == 1 { value } else { '.' });
    kept.collect()
}
