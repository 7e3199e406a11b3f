//! The game as its statement has it: plain arrays and its table of lines, and nothing of the library.

pub(crate) type Cells = [u8; 24];

pub(crate) const CENTRE: [usize; 8] = [6, 7, 8, 11, 12, 15, 16, 17];

pub(crate) const LINES: [(char, [usize; 7]); 8] = [
    ('A', [0, 2, 6, 11, 15, 20, 22]),
    ('B', [1, 3, 8, 12, 17, 21, 23]),
    ('C', [10, 9, 8, 7, 6, 5, 4]),
    ('D', [19, 18, 17, 16, 15, 14, 13]),
    ('E', [23, 21, 17, 12, 8, 3, 1]),
    ('F', [22, 20, 15, 11, 6, 2, 0]),
    ('G', [13, 14, 15, 16, 17, 18, 19]),
    ('H', [4, 5, 6, 7, 8, 9, 10]),
];

/// The input behind the byte order mark that may precede it.
pub(crate) fn unmarked(input: &[u8]) -> &[u8] {
    input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input)
}

pub(crate) fn turn(mut cells: Cells, line: &[usize; 7]) -> Cells {
    let first = cells[line[0]];
    for place in 0..6 {
        cells[line[place]] = cells[line[place + 1]];
    }
    cells[line[6]] = first;
    cells
}

/// The cells after the move of a letter, if it is one.
pub(crate) fn after(cells: Cells, letter: char) -> Option<Cells> {
    let (_, line) = LINES.iter().find(|(name, _)| *name == letter)?;
    Some(turn(cells, line))
}

/// The value that fills the centre, if one does.
pub(crate) fn centre(cells: &Cells) -> Option<u8> {
    let first = cells[CENTRE[0]];
    CENTRE
        .iter()
        .all(|&cell| cells[cell] == first)
        .then_some(first)
}

/// Whether a goal is reached: `centre`, or a pattern.
pub(crate) fn reaches(cells: &Cells, goal: &str) -> bool {
    let pattern = unspaced(goal);
    let mut pairs = cells.iter().zip(pattern.bytes());
    if goal == "centre" {
        centre(cells).is_some()
    } else {
        pairs.all(|(&cell, wanted)| wanted == b'.' || wanted == b'0' + cell)
    }
}

/// The smallest of the shortest sequences that reach a goal, if there is one of at most `depth`
/// moves: without a heuristic and without pruning.
pub(crate) fn first(cells: Cells, goal: &str, depth: usize) -> Option<String> {
    (0..=depth).find_map(|depth| first_of(cells, goal, depth))
}

/// The smallest sequence of exactly `depth` moves that reaches a goal.
fn first_of(cells: Cells, goal: &str, depth: usize) -> Option<String> {
    if depth == 0 {
        return reaches(&cells, goal).then(String::new);
    }
    LINES.iter().find_map(|(letter, line)| {
        let rest = first_of(turn(cells, line), goal, depth - 1)?;
        Some(format!("{letter}{rest}"))
    })
}

/// Whether a text is a goal.
pub(crate) fn is_goal(text: &str) -> bool {
    let cells = unspaced(text);
    let count = |digit| cells.matches(digit).count();
    let is_pattern = cells.len() == 24
        && ['1', '2', '3'].iter().all(|&digit| count(digit) <= 8)
        && count('1') + count('2') + count('3') + count('.') == 24;
    text == "centre" || is_pattern
}

/// The cells of a board, if these are one.
pub(crate) fn legal(numbers: &[i64]) -> Option<Cells> {
    let count = |value| numbers.iter().filter(|&&number| number == value).count();
    let is_legal = numbers.len() == 24 && [1, 2, 3].iter().all(|&value| count(value) == 8);
    is_legal.then(|| std::array::from_fn(|cell| u8::try_from(numbers[cell]).unwrap()))
}

/// A board or a pattern without what may stand between its cells.
pub(crate) fn unspaced(text: &str) -> String {
    text.replace(|sign: char| sign == ',' || sign.is_whitespace(), "")
}

/// The numbers that digits are; what is no digit is no value either.
pub(crate) fn numbers(digits: &str) -> Vec<i64> {
    let number = |digit: char| digit.to_digit(10).map_or(-1, i64::from);
    unspaced(digits).chars().map(number).collect()
}

/// A legal board, one for each way in which the bytes can shuffle it.
pub(crate) fn shuffled(bytes: &[u8]) -> Cells {
    let mut cells = std::array::from_fn(|cell| [1, 2, 3][cell / 8]);
    for (place, &byte) in (1..24).rev().zip(bytes) {
        cells.swap(place, usize::from(byte) % (place + 1));
    }
    cells
}

/// 24 digits.
pub(crate) fn print(cells: &Cells) -> String {
    cells.iter().map(|&cell| char::from(b'0' + cell)).collect()
}
