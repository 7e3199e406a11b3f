//! A dense number for each of the 735,471 masks of eight cells among 24.
//!
//! The combinatorial number system, cut in two so that a rank costs two small table reads: masks
//! are ordered by their upper twelve cells, then by their lower twelve.

use crate::puzzle::CELLS;

/// How many masks there are: the ways to choose 8 of 24.
pub(crate) const MASKS: usize = 735_471;

/// How many cells a half has.
pub(crate) const HALF: usize = 12;
/// How many sets of cells of a half there are.
pub(crate) const HALVES: usize = 1 << HALF;

static UPPER: [u32; HALVES] = upper();
static LOWER: [u16; HALVES] = lower();

/// The rank of a mask of eight cells, 0 to [`MASKS`] - 1.
#[inline]
pub(crate) fn rank(mask: u32) -> usize {
    let mask = mask as usize;
    upper_rank(mask >> HALF) + lower_rank(mask)
}

/// What the upper twelve cells add to a rank: how many masks have a smaller upper half.
#[inline]
pub(crate) fn upper_rank(half: usize) -> usize {
    UPPER[half % HALVES] as usize
}

/// What the lower twelve cells add to a rank: how many smaller halves have as many cells.
#[inline]
pub(crate) fn lower_rank(half: usize) -> usize {
    LOWER[half % HALVES].into()
}

/// All masks of eight cells in ascending order, which is that of their ranks.
pub(crate) fn masks() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(0xff_u32), |&mask| {
        let next = next_mask(mask);
        (next < 1 << CELLS).then_some(next)
    })
}

/// Returns the next greater number with as many bits (Gosper), for a mask of cells.
#[inline]
pub(crate) fn next_mask(mask: u32) -> u32 {
    let lowest = mask & mask.wrapping_neg();
    let carried = mask + lowest;
    // Shifting by the place of the lowest bit divides by it.
    carried | ((mask ^ carried) >> 2) >> lowest.trailing_zeros()
}

const fn lower() -> [u16; HALVES] {
    let mut ranks = [0; HALVES];
    let mut seen = [0; HALF + 1];
    let mut half = 0;
    while half < HALVES {
        let cells = half.count_ones() as usize;
        ranks[half] = seen[cells];
        seen[cells] += 1;
        half += 1;
    }
    ranks
}

const fn upper() -> [u32; HALVES] {
    // 12 choose k.
    const CHOOSE: [u32; HALF + 1] = [1, 12, 66, 220, 495, 792, 924, 792, 495, 220, 66, 12, 1];
    let mut ranks = [0; HALVES];
    let mut seen = 0;
    let mut half = 0;
    while half < HALVES {
        ranks[half] = seen;
        let cells = half.count_ones() as usize;
        if cells <= 8 {
            seen += CHOOSE[8 - cells];
        }
        half += 1;
    }
    assert!(seen as usize == MASKS);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_are_a_bijection_onto_0_to_735470() {
        let mut seen = vec![false; MASKS];
        let masks = (0..1_u32 << 24).filter(|mask| mask.count_ones() == 8);
        for mask in masks {
            assert!(!std::mem::replace(&mut seen[rank(mask)], true), "{mask:#b}");
        }
        assert!(seen.into_iter().all(|seen| seen));
    }
}
