use prometheus_client::metrics::gauge::Gauge;

/// Counts up on a gauge while it lives.
pub(crate) struct Counted {
    gauge: Gauge,
    count: i64,
}

impl Counted {
    pub(crate) fn new(gauge: &Gauge) -> Self {
        Self::several(gauge, 1)
    }

    pub(crate) fn several(gauge: &Gauge, count: usize) -> Self {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        gauge.inc_by(count);
        Self {
            gauge: gauge.clone(),
            count,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.gauge.dec_by(self.count);
    }
}
