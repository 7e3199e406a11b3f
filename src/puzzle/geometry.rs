//! The `#` as bits: which cells a line holds, what a move does to them, and the symmetries.
//!
//! A mask has cell `i` at bit `i`. A plane pair is two masks in one `u64`, at bits 0 to 23 and
//! 32 to 55; every function here works on both halves at once.

use super::Move;

/// How many cells a board has.
pub const CELLS: usize = 24;

/// The eight cells of the centre ring: 6, 7, 8, 11, 12, 15, 16 and 17.
pub const CENTRE: u32 = mask(&[6, 7, 8, 11, 12, 15, 16, 17]);

pub(crate) const ALL_CELLS: u32 = (1 << CELLS) - 1;

const fn mask(cells: &[usize]) -> u32 {
    let mut mask = 0;
    let mut i = 0;
    while i < cells.len() {
        mask |= 1 << cells[i];
        i += 1;
    }
    mask
}

const fn both(mask: u32) -> u64 {
    mask as u64 | (mask as u64) << 32
}

/// A move as data: the cells of the line, grouped by how far they go, and each group's rotation.
struct Turn {
    kept: u64,
    groups: [(u64, u32); 4],
}

impl Turn {
    /// The cell at each place of the line takes the value of the cell at the next place, the last
    /// takes the first's.
    const fn new(line: [usize; 7]) -> Self {
        let mut groups = [(0, 0); 4];
        let mut used = 0;
        let mut place = 0;
        while place < 7 {
            let (from, to) = (line[(place + 1) % 7], line[place]);
            // A rotation of the whole plane pair: no cell ever crosses the end of its half.
            let rotation = (64 + to - from) % 64;
            let mut group = 0;
            while group < used && groups[group].1 as usize != rotation {
                group += 1;
            }
            if group == used {
                used += 1;
                #[expect(clippy::cast_possible_truncation, reason = "it is below 64")]
                let rotation = rotation as u32;
                groups[group].1 = rotation;
            }
            groups[group].0 |= both(1 << from);
            place += 1;
        }
        Self {
            kept: both(ALL_CELLS & !mask(&line)),
            groups,
        }
    }
}

/// The cells of each move as the statement lists them.
const LINES: [[usize; 7]; 8] = [
    [0, 2, 6, 11, 15, 20, 22],
    [1, 3, 8, 12, 17, 21, 23],
    [10, 9, 8, 7, 6, 5, 4],
    [19, 18, 17, 16, 15, 14, 13],
    [23, 21, 17, 12, 8, 3, 1],
    [22, 20, 15, 11, 6, 2, 0],
    [13, 14, 15, 16, 17, 18, 19],
    [4, 5, 6, 7, 8, 9, 10],
];

static TURNS: [Turn; 8] = {
    let [a, b, c, d, e, f, g, h] = LINES;
    [
        Turn::new(a),
        Turn::new(b),
        Turn::new(c),
        Turn::new(d),
        Turn::new(e),
        Turn::new(f),
        Turn::new(g),
        Turn::new(h),
    ]
};

/// A plane pair after one move. Free of branches, since no processor can foresee the moves of a
/// search.
#[inline]
pub(crate) fn turn(planes: u64, next: Move) -> u64 {
    let Turn { kept, groups } = &TURNS[next.index()];
    groups
        .iter()
        .fold(planes & kept, |turned, &(cells, rotation)| {
            turned | (planes & cells).rotate_left(rotation)
        })
}

/// A mask after one move.
#[expect(clippy::cast_possible_truncation, reason = "a turned mask is a mask")]
#[inline]
pub(crate) fn turn_mask(mask: u32, next: Move) -> u32 {
    turn(mask.into(), next) as u32
}

impl Move {
    /// The cell whose value this move brings into the centre, and the one whose value it takes
    /// out of it.
    #[must_use]
    pub const fn passage(self) -> (usize, usize) {
        // The third to the fifth cell of each line belong to the centre.
        let line = LINES[self.index()];
        (line[5], line[2])
    }
}

/// One of three mirrorings that generate all eight symmetries of the `#`.
///
/// A symmetry maps lines to lines and the centre to itself, so a board and its image are equally
/// far from a uniform centre, by other letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// Rows and columns change places, along the diagonal from top left to bottom right.
    Transposition,
    /// Left and right change places.
    Mirror,
    /// Top and bottom change places.
    Flip,
}

impl Symmetry {
    /// The image of a mask of cells.
    #[must_use]
    #[inline]
    pub const fn image(self, mask: u32) -> u32 {
        const TRANSPOSITION: Swaps<5> = Swaps::new(
            [3, 4, 7, 11, 12],
            [&[2, 18], &[0, 7, 12, 19], &[8], &[3, 9], &[1, 10]],
        );
        const MIRROR: Swaps<4> = Swaps::new(
            [1, 2, 4, 6],
            [&[0, 2, 11, 20, 22], &[6, 15], &[5, 14], &[4, 13]],
        );
        const FLIP: Swaps<3> = Swaps::new([9, 18, 22], [&[4, 5, 6, 7, 8, 9, 10], &[2, 3], &[0, 1]]);
        match self {
            Self::Transposition => TRANSPOSITION.apply(mask),
            Self::Mirror => MIRROR.apply(mask),
            Self::Flip => FLIP.apply(mask),
        }
    }

    /// The image of a move: if it turns a board into another, its image turns the board's image
    /// into the other's.
    #[must_use]
    pub const fn image_of_move(self, next: Move) -> Move {
        let images = match self {
            Self::Transposition => [7, 6, 5, 4, 3, 2, 1, 0],
            Self::Mirror => [1, 0, 7, 6, 5, 4, 3, 2],
            Self::Flip => [5, 4, 3, 2, 1, 0, 7, 6],
        };
        Move::ALL[images[next.index()]]
    }

    /// The images of a mask of cells under all eight symmetries, the mask itself first. A mask
    /// that is symmetric itself comes more than once.
    ///
    /// ```
    /// use rotation_game::puzzle::{CENTRE, Symmetry};
    ///
    /// assert_eq!(Symmetry::images(CENTRE), [CENTRE; 8]);
    /// ```
    #[must_use]
    #[inline]
    pub const fn images(mask: u32) -> [u32; 8] {
        // Each mirroring doubles what there is.
        let mut images = [mask; 8];
        images[1] = Self::Transposition.image(mask);
        let mut i = 0;
        while i < 2 {
            images[2 + i] = Self::Mirror.image(images[i]);
            i += 1;
        }
        let mut i = 0;
        while i < 4 {
            images[4 + i] = Self::Flip.image(images[i]);
            i += 1;
        }
        images
    }

    /// The images of a move under all eight symmetries, in the order of [`Symmetry::images`].
    #[must_use]
    #[inline]
    pub fn images_of_move(next: Move) -> [Move; 8] {
        static IMAGES: [[Move; 8]; 8] = {
            let mut all = [Move::ALL; 8];
            let mut next = 0;
            while next < 8 {
                let original = Move::ALL[next];
                let transposed = Symmetry::Transposition.image_of_move(original);
                let (mirrored, turned) = (
                    Symmetry::Mirror.image_of_move(original),
                    Symmetry::Mirror.image_of_move(transposed),
                );
                all[next] = [
                    original,
                    transposed,
                    mirrored,
                    turned,
                    Symmetry::Flip.image_of_move(original),
                    Symmetry::Flip.image_of_move(transposed),
                    Symmetry::Flip.image_of_move(mirrored),
                    Symmetry::Flip.image_of_move(turned),
                ];
                next += 1;
            }
            all
        };
        IMAGES[next.index()]
    }
}

/// A permutation of cells that only swaps pairs, the pairs grouped by the distance between them.
struct Swaps<const N: usize> {
    fixed: u32,
    distances: [usize; N],
    /// The lower cells of the pairs in each group.
    lower: [u32; N],
}

impl<const N: usize> Swaps<N> {
    const fn new(distances: [usize; N], lower_cells: [&[usize]; N]) -> Self {
        let mut fixed = ALL_CELLS;
        let mut lower = [0; N];
        let mut group = 0;
        while group < N {
            lower[group] = mask(lower_cells[group]);
            fixed &= !(lower[group] | lower[group] << distances[group]);
            group += 1;
        }
        Self {
            fixed,
            distances,
            lower,
        }
    }

    #[inline]
    const fn apply(&self, mask: u32) -> u32 {
        let mut image = mask & self.fixed;
        let mut group = 0;
        while group < N {
            image |= (mask & self.lower[group]) << self.distances[group];
            image |= mask >> self.distances[group] & self.lower[group];
            group += 1;
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule of the statement, cell by cell.
    fn turn_by_cells(mask: u32, next: Move) -> u32 {
        let line = LINES[next.index()];
        (0..7).fold(mask, |turned, place| {
            let bit = mask >> line[(place + 1) % 7] & 1;
            turned & !(1 << line[place]) | bit << line[place]
        })
    }

    #[test]
    fn a_turn_moves_every_cell_as_the_statement_says_in_both_halves() {
        for next in Move::ALL {
            for cell in 0..CELLS {
                let mask = 1 << cell;
                let other = 1 << (CELLS - 1 - cell);
                let turned = turn(u64::from(mask) | u64::from(other) << 32, next);
                let expected = u64::from(turn_by_cells(mask, next))
                    | u64::from(turn_by_cells(other, next)) << 32;
                assert_eq!(turned, expected, "{next} {cell}");
            }
        }
    }

    #[test]
    fn a_symmetry_carries_each_move_into_its_image() {
        for symmetry in [Symmetry::Transposition, Symmetry::Mirror, Symmetry::Flip] {
            for next in Move::ALL {
                for cell in 0..CELLS {
                    assert_eq!(
                        symmetry.image(turn_by_cells(1 << cell, next)),
                        turn_by_cells(symmetry.image(1 << cell), symmetry.image_of_move(next)),
                        "{symmetry:?} {next} {cell}"
                    );
                }
            }
        }
    }

    #[test]
    fn there_are_eight_symmetries() {
        // Cell 0 goes to each end of the lines, cell 9 to each cell that is second to an end.
        let orbit = |cell: u32| {
            let images = Symmetry::images(1 << cell);
            assert!(images.iter().all(|image| image.is_power_of_two()));
            images.iter().fold(0, |all, image| all | image)
        };
        assert_eq!(orbit(0), mask(&[0, 1, 4, 10, 13, 19, 22, 23]));
        assert_eq!(orbit(9), mask(&[2, 3, 5, 9, 14, 18, 20, 21]));
        assert_eq!(orbit(6), mask(&[6, 8, 15, 17]));
    }
}
