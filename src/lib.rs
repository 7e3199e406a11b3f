//! Exact solutions of the Rotation Game, as a library.
//!
//! The game (POJ 2286, UVA 1343) has a board of 24 cells in the shape of a `#`, eight each of 1, 2
//! and 3. A move turns one of its four lines by one cell. The answer is the shortest,
//! lexicographically smallest sequence of moves after which the centre holds one value only.
//!
//! ```
//! use rotation_game::{Board, PatternDatabase, Value};
//!
//! let database = PatternDatabase::build();
//! let board: Board = "111132323132231222312133".parse()?;
//! let solution = database.solve(board);
//! assert_eq!(solution.moves.to_string(), "AC");
//! assert_eq!(solution.centre, Some(Value::Two));
//!
//! // Replay the moves.
//! let mut replayed = board;
//! for &next in solution.moves.iter() {
//!     replayed = replayed.after(next);
//! }
//! assert_eq!(replayed.centre(), Some(Value::Two));
//! # Ok::<(), rotation_game::IllegalBoard>(())
//! ```
//!
//! # The rooms
//!
//! Imports go one way: [`cli`] to [`http`] to [`service`] to [`search`] to [`puzzle`]; [`http`] and
//! [`cli`] to [`analysis`] to [`search`]; and [`cli`] to [`server`] and [`telemetry`].
//!
//! - [`puzzle`] is the game itself: boards, moves, notations, and legality with every reason at
//!   once. It knows nothing of searching.
//! - [`search`] is IDA*, its heuristics, the pattern database, limits and outcomes. It knows
//!   nothing of waiting or of HTTP.
//! - [`analysis`] is what the exact table tells beyond one answer: ratings, all shortest solutions,
//!   replays, random boards, the census.
//! - [`service`] is the one way from a request to a thread and back: the cache, a lane for each
//!   class of work, and searches that equal requests share. It knows nothing of HTTP.
//! - [`http`] is the API: routes, what they take and give, problems, the layers around them. It
//!   knows nothing of sockets.
//! - [`server`] is sockets: the accept loop, limits of a connection, the drain. It knows nothing
//!   of routes.
//! - [`telemetry`] is the log and the registry of metrics.
//! - [`cli`] is the command line, one file a command.

pub mod analysis;
pub mod cli;
mod gauge_guard;
pub mod http;
pub mod puzzle;
pub mod search;
pub mod server;
pub mod service;
pub mod telemetry;

pub use puzzle::{Board, IllegalBoard, InvalidMoves, Move, MoveSequence, Value};
pub use search::{PatternDatabase, Solution};
