//! The game itself: boards, moves, and the notations in which people and programs write them.
//!
//! Everything here is pure and small. A [`Board`] is legal by construction, so nothing behind
//! this room ever checks one again.

mod board;
mod draft;
mod geometry;
mod goal;
pub mod judge;
mod legality;
mod move_set;
mod moves;
mod pattern;
mod sequence;
mod value;

pub use board::Board;
pub use draft::Draft;
pub(crate) use geometry::{ALL_CELLS, turn_mask};
pub use geometry::{CELLS, CENTRE, Symmetry};
pub use goal::Goal;
pub use legality::{Fault, IllegalBoard};
pub(crate) use legality::{FaultList, LISTED_FAULTS};
pub use move_set::{MoveSet, Moves};
pub use moves::Move;
pub use pattern::{IllegalPattern, Pattern, PatternFault};
pub use sequence::{InvalidMoves, MoveSequence, read_moves};
pub use value::Value;

/// The UTF-8 byte order mark, which editors of some systems put at the start of a file.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
