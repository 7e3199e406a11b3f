//! What the exact table tells beyond one board's answer.

mod census;

pub(crate) use census::ratio;
pub use census::{BOARDS, Census, DistanceCount, census};
