use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::puzzle::Goal;
use crate::search::HeuristicKind;

/// What the service counts. Cheap to clone: clones share their numbers.
#[derive(Clone)]
#[expect(missing_docs, reason = "the help texts below say what each is")]
pub struct Metrics {
    pub searches_running: Gauge,
    pub searches_waiting: Gauge,
    pub searches_rejected: Counter,
    pub searches_timed_out: Counter,
    pub searches_abandoned: Counter,
    search_nodes: Family<Kind, Counter<u64, AtomicU64>>,
    search_duration: Family<Kind, Histogram>,
    /// Where nearly all searches are counted, once there is one: they are over in less time than it
    /// takes to look it up.
    exact_searches: Arc<OnceLock<(Counter, Histogram)>>,
    pub goals: Gauge,
    pub goal_bytes: Gauge,
    pub goal_builds: Counter,
    pub batch_boards: Counter,
    pub cache_hits: Counter,
    pub cache_misses: Counter,
    pub cache_evictions: Counter,
    pub cache_entries: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    heuristic: &'static str,
    /// `centre` or `pattern`.
    goal: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            searches_running: Gauge::default(),
            searches_waiting: Gauge::default(),
            searches_rejected: Counter::default(),
            searches_timed_out: Counter::default(),
            searches_abandoned: Counter::default(),
            search_nodes: Family::default(),
            // From a microsecond to a quarter of a minute.
            search_duration: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(1e-6, 4.0, 13))
            }),
            exact_searches: Arc::default(),
            goals: Gauge::default(),
            goal_bytes: Gauge::default(),
            goal_builds: Counter::default(),
            batch_boards: Counter::default(),
            cache_hits: Counter::default(),
            cache_misses: Counter::default(),
            cache_evictions: Counter::default(),
            cache_entries: Gauge::default(),
        }
    }
}

impl Metrics {
    /// Makes the numbers part of what `registry` tells.
    pub fn register(&self, registry: &mut Registry) {
        let m = self.clone();
        let searches = registry.sub_registry_with_prefix("searches");
        searches.register(
            "running",
            "Searches, lookups and chunks of batches that run on a thread",
            m.searches_running,
        );
        searches.register(
            "waiting",
            "Long searches, lookups and chunks of batches that wait for a thread",
            m.searches_waiting,
        );
        searches.register(
            "rejected",
            "Long searches and lookups answered with 503",
            m.searches_rejected,
        );
        searches.register(
            "timed_out",
            "Requests that ran out of time while their search ran",
            m.searches_timed_out,
        );
        searches.register(
            "abandoned",
            "Searches stopped because those who waited for them have left",
            m.searches_abandoned,
        );
        let search = registry.sub_registry_with_prefix("search");
        search.register("nodes", "Boards that searches opened", m.search_nodes);
        search.register_with_unit(
            "duration",
            "How long searches ran",
            Unit::Seconds,
            m.search_duration,
        );
        registry.register("goals", "Patterns whose tables are in memory", m.goals);
        let goal = registry.sub_registry_with_prefix("goal");
        goal.register_with_unit(
            "tables",
            "Memory of the tables of patterns",
            Unit::Bytes,
            m.goal_bytes,
        );
        goal.register(
            "builds",
            "Times that tables of a pattern were built",
            m.goal_builds,
        );
        registry.register("batch_boards", "Boards solved in batches", m.batch_boards);
        let cache = registry.sub_registry_with_prefix("cache");
        cache.register("hits", "Boards whose solution was known", m.cache_hits);
        cache.register(
            "misses",
            "Boards whose solution was not known, whoever searched for it",
            m.cache_misses,
        );
        cache.register("evictions", "Solutions that made room", m.cache_evictions);
        cache.register("entries", "Solutions that are kept", m.cache_entries);
    }

    pub(super) fn observe_search(
        &self,
        heuristic: HeuristicKind,
        goal: Goal,
        nodes: u64,
        seconds: f64,
    ) {
        let observe = |(counter, histogram): &(Counter, Histogram)| {
            counter.inc_by(nodes);
            histogram.observe(seconds);
        };
        if heuristic.is_exact(goal) {
            observe(
                self.exact_searches
                    .get_or_init(|| self.searches(heuristic, goal)),
            );
        } else {
            observe(&self.searches(heuristic, goal));
        }
    }

    fn searches(&self, heuristic: HeuristicKind, goal: Goal) -> (Counter, Histogram) {
        let label = Kind {
            heuristic: heuristic.name(),
            goal: match goal {
                Goal::Centre => "centre",
                Goal::Pattern(_) => "pattern",
            },
        };
        (
            self.search_nodes.get_or_create(&label).clone(),
            self.search_duration.get_or_create(&label).clone(),
        )
    }
}
