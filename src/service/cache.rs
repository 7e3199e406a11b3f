use std::hash::Hash;
use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;

use super::Metrics;
use crate::search::Solution;

/// The solutions that were asked for last, by board, or by board and pattern.
///
/// One lock guards one list, so that the board evicted is always the one that was used least
/// recently of all. The lock is held for some ten nanoseconds, far less than reading a request.
pub(super) struct Cache<K> {
    /// `None` where the capacity is 0.
    solutions: Option<Mutex<LruCache<K, Solution>>>,
}

impl<K: Hash + Eq + Copy> Cache<K> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            // Memory is taken as entries come, not for the whole capacity at once.
            solutions: NonZeroUsize::new(capacity)
                .map(|capacity| Mutex::new(LruCache::sparse(capacity))),
        }
    }

    /// The solution of a key, which is now the one used last.
    pub(super) fn get(&self, key: K) -> Option<Solution> {
        let mut solutions = self.solutions.as_ref()?.lock();
        solutions.get(&key).copied()
    }

    pub(super) fn put(&self, key: K, solution: Solution, metrics: &Metrics) {
        let Some(solutions) = &self.solutions else {
            return;
        };
        match solutions.lock().push(key, solution) {
            None => {
                metrics.cache_entries.inc();
            }
            Some((evicted, _)) if evicted != key => {
                metrics.cache_evictions.inc();
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::{Board, Move, MoveSequence, Value};

    const SOLUTION: Solution = Solution {
        moves: MoveSequence::EMPTY,
        centre: Some(Value::One),
    };

    fn boards() -> [Board; 4] {
        let first: Board = "111132323132231222312133".parse().unwrap();
        [Move::A, Move::B, Move::C, Move::D].map(|next| first.after(next))
    }

    #[test]
    fn the_board_used_least_recently_is_evicted() {
        let [a, b, c, d] = boards();
        let (cache, metrics) = (Cache::new(3), Metrics::default());
        for board in [a, b, c] {
            cache.put(board, SOLUTION, &metrics);
        }
        assert_eq!(cache.get(a), Some(SOLUTION), "now b is the oldest");
        cache.put(d, SOLUTION, &metrics);
        assert_eq!(cache.get(b), None);
        cache.put(b, SOLUTION, &metrics);
        assert_eq!(cache.get(c), None, "then it was c");
        for board in [a, d, b] {
            assert_eq!(cache.get(board), Some(SOLUTION));
        }
        assert_eq!(metrics.cache_evictions.get(), 2);
        assert_eq!(metrics.cache_entries.get(), 3);
    }

    /// As docs/operations.md says, under "Sizing".
    #[test]
    fn an_entry_takes_115_bytes_at_most() {
        const ENTRIES: u32 = 65_536;
        let mut boards: Vec<Board> = boards().into();
        while boards.len() < ENTRIES as usize {
            let next = Move::ALL.map(|next| boards.iter().map(move |board| board.after(next)));
            boards = next.into_iter().flatten().collect();
            boards.sort_unstable_by_key(Board::to_string);
            boards.dedup();
        }
        boards.truncate(ENTRIES as usize);
        let metrics = Metrics::default();
        let mut cache = Cache::new(0);
        let allocated = allocation_counter::measure(|| {
            cache = Cache::new(ENTRIES as usize);
            for &board in &boards {
                cache.put(board, SOLUTION, &metrics);
            }
        });
        assert_eq!(metrics.cache_entries.get(), i64::from(ENTRIES));
        let each = allocated.bytes_current / i64::from(ENTRIES);
        assert!((50..=115).contains(&each), "{each} bytes each");
    }

    #[test]
    fn putting_a_board_again_evicts_nothing() {
        let [a, b, ..] = boards();
        let (cache, metrics) = (Cache::new(2), Metrics::default());
        for board in [a, b, a, b, a] {
            cache.put(board, SOLUTION, &metrics);
        }
        assert_eq!(metrics.cache_evictions.get(), 0);
        assert_eq!(metrics.cache_entries.get(), 2);
    }

    #[test]
    fn a_capacity_of_0_keeps_nothing() {
        let [a, ..] = boards();
        let cache = Cache::new(0);
        cache.put(a, SOLUTION, &Metrics::default());
        assert_eq!(cache.get(a), None);
    }
}
