//! The limit of open files, each connection taking one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one, and logs a warning where `needed` is more than that.
pub(super) fn raise_limit(needed: usize) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    // Where the system refuses, the limit that is left decides.
    let _ = setrlimit(Resource::Nofile, raised);
    if let Some(limit) = getrlimit(Resource::Nofile).current
        && limit < needed as u64
    {
        tracing::warn!(
            limit,
            needed,
            "the limit of open files is too low for --max-connections: raise it (ulimit -Hn) or lower the option"
        );
    }
}
