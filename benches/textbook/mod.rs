//! The solver as textbooks and competition programs have it: an array, a table of lines, a count
//! of the centre at every node.

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
const INVERSE: [usize; 8] = [5, 4, 7, 6, 1, 0, 3, 2];
const CENTRE: [usize; 8] = [6, 7, 8, 11, 12, 15, 16, 17];

/// The lexicographically smallest of the shortest solutions.
pub(crate) fn solve(mut cells: [u8; 24]) -> Vec<usize> {
    let mut moves = Vec::new();
    for bound in 0.. {
        if extend(&mut cells, &mut moves, bound) {
            break;
        }
    }
    moves
}

fn extend(cells: &mut [u8; 24], moves: &mut Vec<usize>, bound: usize) -> bool {
    let misplaced = misplaced(cells);
    if misplaced == 0 {
        return true;
    }
    if moves.len() + misplaced > bound {
        return false;
    }
    for (next, inverse) in INVERSE.into_iter().enumerate() {
        if moves.last() == Some(&inverse) {
            continue;
        }
        turn(cells, next);
        moves.push(next);
        if extend(cells, moves, bound) {
            return true;
        }
        moves.pop();
        turn(cells, inverse);
    }
    false
}

fn misplaced(cells: &[u8; 24]) -> usize {
    let mut counts = [0; 4];
    for cell in CENTRE {
        counts[usize::from(cells[cell])] += 1;
    }
    8 - counts[1].max(counts[2]).max(counts[3])
}

fn turn(cells: &mut [u8; 24], next: usize) {
    let line = LINES[next];
    let first = cells[line[0]];
    for place in 0..6 {
        cells[line[place]] = cells[line[place + 1]];
    }
    cells[line[6]] = first;
}
