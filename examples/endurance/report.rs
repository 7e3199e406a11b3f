use std::fmt::{self, Display};
use std::process::ExitCode;
use std::time::Duration;

/// Which promises were kept, printed as it becomes known.
#[derive(Default)]
pub(crate) struct Report {
    broken: usize,
}

impl Report {
    pub(crate) fn promise(&mut self, what: &str, is_kept: bool, found: impl Display) {
        if !is_kept {
            self.broken += 1;
        }
        println!(
            "{:8}{what}: {found}",
            if is_kept { "kept" } else { "BROKEN" }
        );
    }

    pub(crate) fn end(self) -> ExitCode {
        if self.broken == 0 {
            println!("all promises are kept");
            ExitCode::SUCCESS
        } else {
            println!("broken promises: {}", self.broken);
            ExitCode::FAILURE
        }
    }
}

/// Prints a heading for the lines below it.
pub(crate) fn heading(what: impl Display) {
    println!("{what}");
}

/// Prints what was measured.
pub(crate) fn figure(what: &str, value: impl Display) {
    println!("{:8}{what}: {value}", "");
}

/// How long requests took, in order.
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn new(mut latencies: Vec<Duration>) -> Self {
        latencies.sort_unstable();
        Self(latencies)
    }

    /// What so many of a hundred do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let index = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(index).copied().unwrap_or_default()
    }
}

impl Display for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let [median, high, worst] = [50, 99, 100].map(|percent| self.percentile(percent));
        write!(
            f,
            "{count} requests, median {median:.1?}, 99th percentile {high:.1?}, worst {worst:.1?}"
        )
    }
}
