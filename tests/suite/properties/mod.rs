//! What holds for every input: for the committed ones (`corpus.rs`), and for those that fuzzing makes
//! up, which compiles these files too.

pub(crate) mod batch;
pub(crate) mod boards;
mod client;
pub(crate) mod judge;
pub(crate) mod patterns;
pub(crate) mod plain;
pub(crate) mod replay;
pub(crate) mod requests;
pub(crate) mod solve;

use std::sync::LazyLock;

use rotation_game::PatternDatabase;

static DATABASE: LazyLock<PatternDatabase> = LazyLock::new(PatternDatabase::build);

/// The input in pieces, of which some are empty. Its own bytes tell where it is cut, so that whoever
/// makes up inputs makes up cuts.
fn pieces(input: &[u8]) -> Vec<&[u8]> {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (mut pieces, mut rest, mut state) = (Vec::new(), input, 0_u64);
    while let Some(&byte) = rest.first() {
        state = (state ^ u64::from(byte)).wrapping_mul(FACTOR);
        let [empty, magnitude, size @ ..] = state.to_be_bytes();
        if empty < 32 {
            pieces.push(&rest[..0]);
        }
        let most = 1 << (magnitude % 10);
        let size = 1 + usize::from(u16::from_be_bytes([size[0], size[1]])) % most;
        let piece;
        (piece, rest) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
    }
    pieces
}

/// What an error says of these faults: the first 16, and how many more there are.
fn listed(faults: &[String]) -> String {
    let shown = faults[..faults.len().min(16)].join("; ");
    match faults.len() - faults.len().min(16) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}
