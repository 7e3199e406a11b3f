//! What the exact table tells beyond one board's answer.

mod census;
mod random;
mod rating;
mod replay;
mod solutions;

pub(crate) use census::ratio;
pub use census::{BOARDS, Census, DistanceCount, census};
pub use random::{RandomBoard, Sampler, Samplers};
pub use rating::{Distances, Effect, RatedMove, Rating, rate};
pub use replay::{GoalReplay, Replay, replay};
pub use solutions::{Solutions, SolutionsIter};
