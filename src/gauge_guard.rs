use prometheus_client::metrics::gauge::Gauge;

/// Raises a gauge for as long as it lives.
pub(crate) struct GaugeGuard {
    gauge: Gauge,
    amount: i64,
}

impl GaugeGuard {
    /// Raises the gauge by 1.
    pub(crate) fn new(gauge: &Gauge) -> Self {
        Self::by(gauge, 1)
    }

    /// Raises the gauge by an amount.
    pub(crate) fn by(gauge: &Gauge, amount: usize) -> Self {
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        gauge.inc_by(amount);
        Self {
            gauge: gauge.clone(),
            amount,
        }
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.gauge.dec_by(self.amount);
    }
}
