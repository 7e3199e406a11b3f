//! The one way from a request to a thread and back: the cache, a lane for each class of work, and
//! searches that equal requests share.
//!
//! A caller is a future; dropping it cancels the request. The module knows nothing of HTTP.
//!
//! | class | what | lane |
//! |---|---|---|
//! | exact | the default goal, by the pattern database | a dispatcher and one worker that solve all waiting requests at once; never refused |
//! | lookup | what the table says about a board | slots and a queue |
//! | long | `misplaced`, and every search with a pattern | slots and a queue; equal requests share a search |
//! | batch | chunks of a batch | slots; a chunk of each batch in turn |
//!
//! No class waits for another, except for the processor. A slot is held only while work runs on a
//! thread: it moves into the closure that runs there.

mod batch;
mod cache;
mod core;
mod engine;
mod exact;
mod flight;
mod goals;
mod lane;
mod long;
mod metrics;
mod request;
mod searcher;

pub use batch::{BatchSlot, ExactSolver};
pub use core::Service;
pub use engine::Engine;
pub use metrics::Metrics;
pub use request::{Answer, Config, Error, Request, Source};
