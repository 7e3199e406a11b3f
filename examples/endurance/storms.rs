//! The kinds of load that the overload puts on the server, one after the other.

use std::fmt::{self, Display};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tokio::time::Instant;

use crate::Result;
use crate::overload::Args;
use crate::report::{Report, figure};
use crate::request_storm::{Outcomes, RequestKind, RequestStorm};
use crate::slow::{self, SlowLoad};
use crate::unread::{self, OneLineBatches};

/// A kind of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storm {
    Requests(RequestKind),
    Misplaced,
    UnreadBatches,
}

impl Storm {
    /// In the order of a run. Patterns come last, since the server keeps their tables.
    pub(crate) const ALL: [Self; 13] = [
        Self::Requests(RequestKind::RandomAt13),
        Self::Requests(RequestKind::RandomAt9),
        Self::Requests(RequestKind::Random),
        Self::Requests(RequestKind::RandomHttp2),
        Self::Requests(RequestKind::Board),
        Self::Requests(RequestKind::Solutions),
        Self::Requests(RequestKind::Replay),
        Self::Requests(RequestKind::WrongReplay),
        Self::Misplaced,
        Self::Requests(RequestKind::Lines),
        Self::Requests(RequestKind::Text),
        Self::UnreadBatches,
        Self::Requests(RequestKind::Patterns),
    ];

    /// The name that selects it on the command line, and its description.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Requests(kind) => kind.names(),
            Self::Misplaced => ("misplaced", "more slow searches than the server can do"),
            Self::UnreadBatches => ("unread", "POST /solve/batch by clients that read nothing"),
        }
    }

    /// Memory that the server may take in addition to the general limit, in MiB.
    pub(crate) const fn additional_memory(self) -> u64 {
        match self {
            // The tables of 16 patterns, and of one that is being built.
            Self::Requests(RequestKind::Patterns) => 17 * 7,
            _ => 0,
        }
    }

    /// Prepares the storm on a server at rest: measures its capacity, or asks for answers to compare.
    pub(crate) async fn prepare(self, args: &Args, address: SocketAddr) -> Result<Prepared> {
        Ok(match self {
            Self::Misplaced => {
                let time = (args.time / 4).max(Duration::from_secs(1));
                let capacity = slow::capacity(address, time).await?;
                figure(
                    "slow searches that it can do a second",
                    format!("{capacity:.1}"),
                );
                figure(
                    "slow searches offered a second",
                    format!("{:.1}", capacity * args.times),
                );
                Prepared::Slow { capacity }
            }
            Self::UnreadBatches => Prepared::Unread,
            Self::Requests(kind) => {
                Prepared::Requests(Arc::new(RequestStorm::prepare(kind, address).await?))
            }
        })
    }
}

impl Display for Storm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().1)
    }
}

impl ValueEnum for Storm {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, description) = self.names();
        Some(PossibleValue::new(name).help(description))
    }
}

/// A storm that is ready to begin.
pub(crate) enum Prepared {
    Requests(Arc<RequestStorm>),
    Slow { capacity: f64 },
    Unread,
}

impl Prepared {
    /// Loads the server until `end`.
    pub(crate) async fn run(
        self,
        args: &Args,
        address: SocketAddr,
        end: Instant,
    ) -> Result<Finished> {
        Ok(match self {
            Self::Requests(requests) => {
                let kind = requests.kind;
                let outcomes = requests.run(address, args.connections, end).await?;
                Finished::Requests { kind, outcomes }
            }
            Self::Slow { capacity } => {
                let load = slow::offer(address, capacity * args.times, end).await?;
                Finished::Slow { load, capacity }
            }
            Self::Unread => Finished::Unread(unread::run(address, end).await?),
        })
    }
}

/// A storm that is over.
pub(crate) enum Finished {
    Requests {
        kind: RequestKind,
        outcomes: Outcomes,
    },
    Slow {
        load: SlowLoad,
        capacity: f64,
    },
    Unread(OneLineBatches),
}

impl Finished {
    pub(crate) fn check(&self, args: &Args, report: &mut Report) {
        match self {
            Self::Requests { kind, outcomes } => outcomes.check(*kind, args, report),
            Self::Slow { load, capacity } => load.check(args, *capacity, report),
            Self::Unread(batches) => batches.check(args, report),
        }
    }
}
