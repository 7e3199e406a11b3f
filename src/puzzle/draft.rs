use super::{Board, CELLS, Fault, IllegalBoard, Value};

/// A board in the making: cells go in one at a time, and [`Draft::finish`] gives the board or
/// every reason why it is none. All notations are read through it.
///
/// ```
/// use rotation_game::puzzle::Draft;
///
/// let mut draft = Draft::default();
/// for number in [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3] {
///     draft.push_number(number);
/// }
/// assert_eq!(draft.finish()?.to_string(), "111111112222222233333333");
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// How many cells have come, those past the last cell of a board included.
    cells: usize,
    /// For each value the cells that hold it, cell `i` at bit `i`.
    masks: [u32; 3],
    /// The cells that hold no value.
    faults: Vec<Fault>,
}

impl Draft {
    /// How many cells have been pushed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells
    }

    /// Whether no cell has been pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// Puts a value into the next cell.
    pub fn push(&mut self, value: Value) {
        if self.cells < CELLS {
            self.masks[value.index()] |= 1 << self.cells;
        }
        self.cells += 1;
    }

    /// Puts a number into the next cell, which is a fault where it is not 1, 2 or 3.
    pub fn push_number(&mut self, number: i64) {
        match Value::new(number) {
            Some(value) => self.push(value),
            None => self.push_fault(number.to_string()),
        }
    }

    /// Notes that the next cell holds something else than a value; `found` is shown to
    /// people as it is.
    pub fn push_fault(&mut self, found: String) {
        if self.cells < CELLS {
            self.faults.push(Fault::Cell {
                index: self.cells,
                found,
            });
        }
        self.cells += 1;
    }

    /// The board.
    ///
    /// # Errors
    /// Every [`Fault`] at once. Too few of a value is told only where all 24 cells hold values,
    /// since otherwise the bad cells explain it; too many only where there are not too many cells.
    pub fn finish(self) -> Result<Board, IllegalBoard> {
        let Self {
            cells,
            masks,
            mut faults,
        } = self;
        let complete = cells == CELLS && faults.is_empty();
        if complete && masks.iter().all(|mask| mask.count_ones() == 8) {
            return Ok(Board::from_masks(masks[0], masks[1]));
        }
        if cells != CELLS {
            faults.insert(0, Fault::Length { found: cells });
        }
        for value in Value::ALL {
            let found = masks[value.index()].count_ones() as usize;
            if (found > 8 && cells <= CELLS) || (complete && found < 8) {
                faults.push(Fault::Count { value, found });
            }
        }
        Err(IllegalBoard::new(faults))
    }
}
