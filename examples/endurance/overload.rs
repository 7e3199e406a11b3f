use std::collections::BTreeMap;
use std::time::Duration;

use tokio::runtime;
use tokio::task;
use tokio::time::{Instant, sleep};

use crate::Result;
use crate::beside::{self, Beside, Fared};
use crate::report::{Report, figure, heading};
use crate::server::{GAUGES, Server};
use crate::slow;
use crate::storms::Storm;

/// Loads the server with one storm after the other, each more than it can do
///
/// Exact searches at a steady rate beside each storm are the judge of it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Time of each storm
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pub(crate) time: Duration,

    /// Run these storms only, with commas between
    #[arg(long = "storm", value_name = "STORM", value_delimiter = ',')]
    storms: Vec<Storm>,

    /// Clients of a storm, each with a connection, or a stream of the one HTTP/2 connection
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) connections: usize,

    /// Slow searches offered, as a multiple of those that the server can do
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    pub(crate) times: f64,

    /// Minimum of slow searches done under the load, in percent of the capacity
    #[arg(long, value_name = "PERCENT", default_value_t = 50.0)]
    pub(crate) share: f64,

    /// Maximum latency of exact and cached requests beside a storm, at the 99th percentile
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    p99: Duration,

    /// Maximum latency of a batch of one line beside batches that are not read
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    pub(crate) one_line: Duration,

    /// Maximum resident memory of the server in a storm, in MiB; 119 more for the tables of patterns
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    memory: u64,

    /// Maximum time until all gauges are 0 after a storm
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    rest: Duration,

    /// Options of the server
    #[arg(last = true)]
    pub(crate) server: Vec<String>,
}

/// Maximum number of different failures that are shown.
const SHOWN_FAILURES: usize = 5;
/// The time between two looks at the gauges.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) async fn run(args: &Args, server: &Server, report: &mut Report) -> Result<()> {
    beside::make_known(server.address).await?;
    let storms = if args.storms.is_empty() {
        &Storm::ALL[..]
    } else {
        &args.storms
    };
    for (round, &storm) in (0..).zip(storms) {
        heading(format_args!("\n{storm}"));
        run_storm(storm, round, args, server, report).await?;
    }
    Ok(())
}

async fn run_storm(
    storm: Storm,
    round: u64,
    args: &Args,
    server: &Server,
    report: &mut Report,
) -> Result<()> {
    let address = server.address;
    let prepared = storm.prepare(args, address).await?;
    let idle = server.memory()?;
    server.reset_peak()?;

    let end = Instant::now() + args.time;
    // On a thread of their own, so that they do not wait for the other clients.
    let beside = task::spawn_blocking(move || {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Result::Ok(runtime.block_on(async {
            tokio::join!(
                Beside::Exact.ask_until(end, address, round),
                Beside::Known.ask_until(end, address, round),
            )
        }))
    });
    let (finished, beside, peaks) =
        tokio::join!(prepared.run(args, address, end), beside, peaks(server, end));
    let (finished, (exact, known)) = (finished?, beside??);

    figure("greatest gauges", format!("{:?}", peaks?));
    finished.check(args, report);
    check_beside("exact", &exact, args, report);
    check_beside("cached", &known, args, report);
    let memory = server.memory()?;
    let limit = args.memory + storm.additional_memory();
    report.promise(
        &format!("the server takes at most {limit} MiB"),
        memory.peak <= limit * 1024,
        format!("{} KiB, {} KiB before", memory.peak, idle.resident),
    );
    server.check_rest(args.rest, report).await?;
    if storm == Storm::Misplaced {
        slow::check_recovery(address, report).await;
    }
    Ok(())
}

fn check_beside(what: &str, fared: &Fared, args: &Args, report: &mut Report) {
    let Fared {
        latencies,
        failures,
    } = fared;
    let failed: usize = failures.values().sum();
    report.promise(
        &format!(
            "{what} requests beside it are all answered, 99 in 100 within {:?}",
            args.p99
        ),
        failed == 0 && latencies.percentile(99) <= args.p99,
        format!("{latencies}, {failed} failed"),
    );
    for (failure, count) in failures.iter().take(SHOWN_FAILURES) {
        figure(failure, count);
    }
}

/// Returns the greatest observed values of the gauges.
async fn peaks(server: &Server, end: Instant) -> Result<BTreeMap<&'static str, f64>> {
    let mut peaks = BTreeMap::from(GAUGES.map(|gauge| (gauge, 0.0)));
    while Instant::now() < end {
        let metrics = server.metrics().await?;
        for (gauge, peak) in &mut peaks {
            *peak = metrics.get(gauge).max(*peak);
        }
        sleep(LOOK).await;
    }
    Ok(peaks)
}
