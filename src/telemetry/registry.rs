use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// What the names of the program's own metrics begin with.
pub const APP_PREFIX: &str = "rotation_game";

/// A registry that knows what runs, and since when.
#[must_use]
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let started = Gauge::<f64, AtomicU64>::default();
    started.set(since_epoch.as_secs_f64());
    registry.register_with_unit(
        "process_start_time",
        "When the process started, since the Unix epoch",
        Unit::Seconds,
        started,
    );
    let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
    registry
        .sub_registry_with_prefix(APP_PREFIX)
        .register("build", "What runs", build);
    registry
}
