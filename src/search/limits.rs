use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::puzzle::MoveSequence;

/// When a search gives up.
///
/// The stop flag is looked at before every node, the clock every 4,096 nodes: with the heuristics
/// of this crate, both well within a millisecond.
///
/// ```
/// use std::time::{Duration, Instant};
/// use rotation_game::search::Limits;
///
/// let limits = Limits {
///     max_depth: 20,
///     deadline: Some(Instant::now() + Duration::from_secs(1)),
///     ..Limits::NONE
/// };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The longest solution to look for, in moves. [`MoveSequence::CAPACITY`] caps it; the usual
    /// goal never needs more than 13.
    pub max_depth: u32,
    /// When to stop searching, or `None` for never.
    pub deadline: Option<Instant>,
    /// Set to `true`, by any thread, it stops the search.
    pub stop: &'a AtomicBool,
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Limits<'static> {
    /// No limit but the capacity of a move sequence.
    #[expect(clippy::cast_possible_truncation, reason = "the capacity is 32")]
    pub const NONE: Self = Self {
        max_depth: MoveSequence::CAPACITY as u32,
        deadline: None,
        stop: &NEVER,
    };
}

impl Default for Limits<'static> {
    fn default() -> Self {
        Self::NONE
    }
}
