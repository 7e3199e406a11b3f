use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use lru::LruCache;
use parking_lot::Mutex;

use super::Metrics;
use crate::gauge_guard::GaugeGuard;
use crate::puzzle::Pattern;
use crate::search::GoalDatabase;

/// The databases of the goals that were asked for last.
///
/// The lock guards the list only: whoever finds a goal without a database builds it outside, and
/// whoever asks for the same goal meanwhile waits for that.
pub(super) struct Goals {
    databases: Mutex<LruCache<Pattern, Place>>,
    metrics: Metrics,
}

/// Where a database is, or is being built.
type Place = Arc<OnceLock<KeptDatabase>>;

/// A database that is counted for as long as anybody uses it.
struct KeptDatabase {
    database: GoalDatabase,
    _one: GaugeGuard,
    _bytes: GaugeGuard,
}

impl Goals {
    pub(super) fn new(capacity: NonZeroUsize, metrics: Metrics) -> Self {
        Self {
            databases: Mutex::new(LruCache::sparse(capacity)),
            metrics,
        }
    }

    /// Does something with the database of a goal, which is built where it is not kept: some tens
    /// of milliseconds.
    pub(super) fn with<T>(&self, pattern: Pattern, use_it: impl FnOnce(&GoalDatabase) -> T) -> T {
        let (place, evicted) = self.place(pattern);
        let kept = place.get_or_init(|| {
            self.metrics.goal_builds.inc();
            let database = match evicted.and_then(unused) {
                // Allocators keep much more than what is in use of large pieces that come and go.
                Some(old) => old.rebuild(pattern),
                None => GoalDatabase::build(pattern),
            };
            KeptDatabase {
                _one: GaugeGuard::new(&self.metrics.goals),
                _bytes: GaugeGuard::by(&self.metrics.goal_bytes, database.bytes()),
                database,
            }
        });
        use_it(&kept.database)
    }

    /// The place of a goal, and the one that made room for it, if it is new and there was none.
    fn place(&self, pattern: Pattern) -> (Place, Option<Place>) {
        let mut databases = self.databases.lock();
        if let Some(place) = databases.get(&pattern) {
            return (Arc::clone(place), None);
        }
        let place = Place::default();
        let evicted = databases.push(pattern, Arc::clone(&place));
        (place, evicted.map(|(_, evicted)| evicted))
    }
}

/// The database of a place that nobody else has.
fn unused(place: Place) -> Option<GoalDatabase> {
    Some(Arc::into_inner(place)?.into_inner()?.database)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;
    use crate::puzzle::Value;

    const CALLERS: usize = 8;

    fn goals(capacity: usize) -> Goals {
        Goals::new(NonZeroUsize::new(capacity).unwrap(), Metrics::default())
    }

    #[test]
    fn however_many_ask_for_a_goal_its_database_is_built_once() {
        let goals = goals(2);
        let together = Barrier::new(CALLERS);
        thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| {
                    together.wait();
                    goals.with(Pattern::centre(Value::Two), |_| ());
                });
            }
        });
        assert_eq!(goals.metrics.goal_builds.get(), 1);
    }

    #[test]
    fn a_goal_is_built_in_the_memory_of_the_one_that_makes_room() {
        let goals = goals(1);
        let mut patterns = [
            "113331232232211122313132",
            "112311231323132213232213",
            "..1...............3..2..",
        ]
        .map(|pattern| pattern.parse().unwrap())
        .into_iter();
        goals.with(patterns.next().unwrap(), |_| ());
        for pattern in patterns {
            let allocated = allocation_counter::measure(|| goals.with(pattern, |_| ()));
            // Bitmaps for the time being: a table takes 2.2 MB.
            assert!(allocated.bytes_max < 1_000_000, "{allocated:?}");
        }
    }

    #[test]
    fn the_goal_used_least_recently_makes_room_and_its_memory_is_told_while_in_use() {
        let goals = goals(2);
        let [one, two, three] = Value::ALL.map(Pattern::centre);
        goals.with(one, |_| ());
        let bytes = goals.metrics.goal_bytes.get();
        assert!(bytes > 2_000_000, "{bytes}");
        goals.with(two, |_| ());
        goals.with(one, |_| {
            goals.with(three, |_| ());
            goals.with(two, |_| ());
            // Only its user keeps the first one now.
            assert_eq!(goals.metrics.goals.get(), 3);
            assert_eq!(goals.metrics.goal_bytes.get(), 3 * bytes);
        });
        assert_eq!(goals.metrics.goals.get(), 2);
        assert_eq!(goals.metrics.goal_bytes.get(), 2 * bytes);
        assert_eq!(goals.metrics.goal_builds.get(), 4, "the second one twice");
    }
}
