use std::fmt;
use std::io::{self, Write};

use console::{StyledObject, style};

use super::{Failure, Format, write_json};
use crate::analysis::{Distances, Effect, Rating, rate};
use crate::puzzle::{Board, CENTRE, Value};
use crate::search::PatternDatabase;

/// Draw a board, with its distances and its eight moves rated
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The 24 cells in order, as digits, with or without spaces or commas between them
    board: Board,

    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Text, env = "ROTATION_GAME_FORMAT")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let rating = rate(&PatternDatabase::build(), args.board);
    let mut output = io::stdout().lock();
    match args.format {
        Format::Json => write_json(&mut output, &rating),
        Format::Text => write!(output, "{}", Page(&rating)).map_err(Failure::Write),
    }
}

/// The picture, a small letter for each cell: `a` to `x` stand for cells 0 to 23.
const PICTURE: &str = concat!(
    "         A   B\n",
    "         a   b\n",
    "         c   d\n",
    " H - e f g h i j k - C\n",
    "         l   m\n",
    " G - n o p q r s t - D\n",
    "         u   v\n",
    "         w   x\n",
    "         F   E\n",
);

struct Page<'a>(&'a Rating);

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rating {
            board,
            distance,
            distances,
            solution,
            optimal_solutions,
            moves,
        } = self.0;
        for sign in PICTURE.chars() {
            match sign {
                'a'..='x' => cell(*board, sign as usize - 'a' as usize).fmt(f)?,
                sign => write!(f, "{sign}")?,
            }
        }
        writeln!(f)?;
        let Distances { ones, twos, threes } = distances;
        writeln!(
            f,
            "distance   {distance} (to 1: {ones}, to 2: {twos}, to 3: {threes})"
        )?;
        let centre = solution
            .centre
            .map_or_else(String::new, |it| it.to_string());
        match distance {
            0 => writeln!(f, "solved     with {centre} in the centre")?,
            _ => writeln!(
                f,
                "solution   {}, with {centre} in the centre (shortest solutions: {optimal_solutions})",
                solution.moves
            )?,
        }
        write!(f, "moves     ")?;
        for rated in moves {
            let effect = style(rated.effect);
            let effect = match rated.effect {
                Effect::Closer => effect.green(),
                Effect::Same => effect.yellow(),
                Effect::Farther => effect.red(),
            };
            write!(f, " {} {effect}", rated.made)?;
        }
        writeln!(f)
    }
}

/// A cell in the colour of its value; those of the centre are bold.
fn cell(board: Board, cell: usize) -> StyledObject<Value> {
    let value = board.cell(cell);
    let styled = match value {
        Value::One => style(value).cyan(),
        Value::Two => style(value).yellow(),
        Value::Three => style(value).magenta(),
    };
    if CENTRE >> cell & 1 == 1 {
        styled.bold()
    } else {
        styled
    }
}
