//! How the program tells what it does: the log and the registry of metrics.

mod log;
mod registry;

pub use log::{LogFormat, LogGuard, init};
pub use registry::{APP_PREFIX, registry};
