//! How the program tells what it does: the log and the registry of metrics.

mod json;
mod lines;
mod log;
mod registry;
mod text;

pub use lines::LogGuard;
pub use log::{LogFormat, init};
pub use registry::{APP_PREFIX, registry};
