//! The notations of a board, and its shortest solution.

use rotation_game::puzzle::{Draft, Fault, IllegalBoard};
use rotation_game::{Board, Move, Value};

use super::{DATABASE, listed, plain};

/// Reads the input as digits and as numbers of two sizes, and solves the board that it shuffles.
pub(crate) fn check(input: &[u8]) {
    digits(&String::from_utf8_lossy(input));
    numbers(input.iter().map(|&byte| i64::from(byte)).collect());
    let chunks = input.as_chunks().0.iter();
    numbers(chunks.map(|&chunk| i64::from_le_bytes(chunk)).collect());
    solution(&plain::shuffled(input));
}

fn digits(text: &str) {
    let digits = plain::unspaced(text);
    let cells: Vec<Cell> = digits
        .chars()
        .map(|found| match found.to_digit(10) {
            Some(digit) => Cell::Number(digit.into()),
            None => Cell::Other(format!("{found:?}")),
        })
        .collect();
    check_read(&text.parse(), &cells);
    if let Ok(board) = text.parse::<Board>() {
        assert_eq!(board.to_string(), digits);
        assert_eq!(serde_json::to_value(board).unwrap(), digits);
        let numbers = board.cells().map(|value| i64::from(value.get()));
        assert_eq!(Board::from_numbers(numbers), Ok(board));
    }
}

fn numbers(numbers: Vec<i64>) {
    let read = Board::from_numbers(numbers.iter().copied());
    let cells: Vec<Cell> = numbers.into_iter().map(Cell::Number).collect();
    check_read(&read, &cells);
}

/// What stands in a cell, legal or not.
enum Cell {
    Number(i64),
    Other(String),
}

/// Whether what was read is what the cells say, be it by a draft or at once.
fn check_read(read: &Result<Board, IllegalBoard>, cells: &[Cell]) {
    let mut draft = Draft::default();
    for (index, cell) in cells.iter().enumerate() {
        assert_eq!(draft.len(), index);
        match cell {
            Cell::Number(number) => draft.push_number(*number),
            Cell::Other(found) => draft.push_fault(found.clone()),
        }
    }
    assert_eq!(draft.is_empty(), cells.is_empty());
    assert_eq!(draft.finish(), *read);
    let faults = faults(cells);
    match read {
        Ok(board) => {
            assert!(faults.is_empty());
            let values = board.cells().map(|value| i64::from(value.get()));
            assert!(
                values
                    .iter()
                    .zip(cells)
                    .all(|(value, cell)| matches!(cell, Cell::Number(number) if number == value))
            );
            for value in Value::ALL {
                let mask = (0..24).filter(|&cell| board.cell(cell) == value);
                assert_eq!(
                    mask.fold(0, |mask, cell| mask | 1 << cell),
                    board.mask(value)
                );
            }
        }
        Err(illegal) => {
            assert_eq!(illegal.faults(), faults);
            let texts: Vec<String> = faults.iter().map(Fault::to_string).collect();
            assert_eq!(illegal.to_string(), listed(&texts));
        }
    }
}

/// Every reason why these cells are no board.
fn faults(cells: &[Cell]) -> Vec<Fault> {
    let mut faults = Vec::new();
    if cells.len() != 24 {
        faults.push(Fault::Length { found: cells.len() });
    }
    for (index, cell) in cells.iter().take(24).enumerate() {
        let found = match cell {
            Cell::Number(1..=3) => continue,
            Cell::Number(number) => number.to_string(),
            Cell::Other(found) => found.clone(),
        };
        faults.push(Fault::Cell { index, found });
    }
    let is_complete = faults.is_empty();
    for value in Value::ALL {
        let number = i64::from(value.get());
        let holds = |cell: &&Cell| matches!(cell, Cell::Number(found) if *found == number);
        let found = cells.iter().filter(holds).count();
        if found > 8 && cells.len() <= 24 || found < 8 && is_complete {
            faults.push(Fault::Count { value, found });
        }
    }
    faults
}

/// The solution solves the board, and at each step no smaller letter leads as near.
fn solution(cells: &plain::Cells) {
    let board: Board = plain::print(cells).parse().unwrap();
    let solution = DATABASE.solve(board);
    let distance = DATABASE.distance(board);
    assert_eq!(solution.moves.len(), distance as usize, "{board}");
    let (mut here, mut left) = (board, distance);
    for &next in solution.moves.iter() {
        for other in Move::ALL {
            let distance = DATABASE.distance(here.after(other));
            assert!(distance.abs_diff(left) <= 1, "{here} {other}");
            assert!(other >= next || distance >= left, "{here} {other} {next}");
        }
        (here, left) = (here.after(next), left - 1);
        assert_eq!(DATABASE.distance(here), left, "{here}");
    }
    assert!(solution.centre.is_some());
    assert_eq!(here.centre(), solution.centre, "{board}");
    let letters = solution.moves.to_string();
    let after = letters.chars().try_fold(*cells, plain::after);
    assert_eq!(
        after.map(|cells| plain::print(&cells)),
        Some(here.to_string())
    );
}
