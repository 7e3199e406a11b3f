use std::cell::LazyCell;
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Read, StdoutLock, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::BoolishValueParser;
use indicatif::ProgressBar;
use serde::Serialize;

use super::{Failure, Format, progress, write_json};
use crate::puzzle::judge::{Answer, Position, Reader};
use crate::puzzle::{Board, Goal};
use crate::search::{
    GoalDatabase, GoalMisplaced, Heuristic, HeuristicKind, Limits, Misplaced, Outcome,
    PatternDatabase, Report, Solution, explain, search,
};

/// How much is read at a time: over a thousand boards.
const PIECE_BYTES: usize = 64 * 1024;
/// From what length on a file is long enough for a progress bar: about 20,000 boards.
const LONG_FILE_BYTES: u64 = 1024 * 1024;
/// For how long an answer of an exact search may be held back to be written together with others.
const PATIENCE: Duration = Duration::from_millis(100);

/// Solve boards in the judge's format: 24 numbers each, up to a board that starts with 0
///
/// Prints two lines a board: the moves (or `No moves needed`), then the value in the centre (or
/// `-` where a goal leaves several there).
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The input, - for standard input, or a board where no file has that name
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// How answers are written
    #[arg(long, value_enum, default_value_t = Format::Text, env = "ROTATION_GAME_FORMAT")]
    format: Format,

    /// What counts as solved: centre, for one value in the centre, or a pattern of 24 characters,
    /// each 1, 2, 3 or . for any
    #[arg(long, default_value_t = Goal::Centre, env = "ROTATION_GAME_GOAL")]
    goal: Goal,

    /// What guides the search
    #[arg(
        long,
        value_enum,
        default_value = "pattern-database",
        env = "ROTATION_GAME_HEURISTIC"
    )]
    heuristic: HeuristicKind,

    /// The longest solution to look for, in moves
    #[arg(long, value_name = "N", default_value_t = Limits::NONE.max_depth, env = "ROTATION_GAME_MAX_DEPTH")]
    max_depth: u32,

    /// How long to search for one board, such as 500ms or 10s [default: without limit]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, env = "ROTATION_GAME_TIMEOUT")]
    timeout: Option<Duration>,

    /// Tell what each search took (with --format json)
    #[arg(long, value_parser = BoolishValueParser::new(), env = "ROTATION_GAME_EXPLAIN")]
    explain: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if args.explain && args.format != Format::Json {
        super::usage_error(
            "solve",
            "--explain (or ROTATION_GAME_EXPLAIN) needs --format json",
        );
    }
    match (args.goal, args.heuristic) {
        (Goal::Centre, HeuristicKind::PatternDatabase) => solve(args, PatternDatabase::build),
        (Goal::Centre, HeuristicKind::Misplaced) => solve(args, || Misplaced),
        (Goal::Pattern(pattern), HeuristicKind::PatternDatabase) => {
            solve(args, || GoalDatabase::build(pattern))
        }
        (Goal::Pattern(pattern), HeuristicKind::Misplaced) => {
            solve(args, || GoalMisplaced::new(pattern))
        }
    }
}

fn solve<H: Heuristic>(args: &Args, heuristic: impl FnOnce() -> H) -> Result<(), Failure> {
    let mut input = Input::open(&args.file)?;
    let mut solver = Solver {
        args,
        heuristic: LazyCell::new(heuristic),
        answers: Answers::new(),
    };
    let result = solver.solve_all(&mut input);
    // Whatever happened, the answers so far come first.
    solver.answers.flush()?;
    input.progress.finish_and_clear();
    result
}

struct Solver<'a, H, F> {
    args: &'a Args,
    /// Not built before there is a board.
    heuristic: LazyCell<H, F>,
    answers: Answers,
}

impl<H: Heuristic, F: FnOnce() -> H> Solver<'_, H, F> {
    fn solve_all(&mut self, input: &mut Input) -> Result<(), Failure> {
        let mut reader = Reader::default();
        let mut buffer = vec![0; PIECE_BYTES];
        while !reader.has_ended() {
            // Reading may wait, and no known answer should wait with it.
            self.answers.flush()?;
            let mut piece = input.read(&mut buffer)?;
            if piece.is_empty() {
                if let Some(board) = reader.finish()? {
                    self.solve_one(board, reader.position())?;
                }
                break;
            }
            let mut unread = piece.len();
            while let Some(board) = reader.next(&mut piece)? {
                self.solve_one(board, reader.position())?;
                input.show_progress(unread - piece.len());
                unread = piece.len();
            }
            input.show_progress(unread);
        }
        Ok(())
    }

    fn solve_one(&mut self, board: Board, position: Position) -> Result<(), Failure> {
        if !self.args.heuristic.is_exact(self.args.goal) {
            // The next answer may take long, and the last one should not wait for it.
            self.answers.flush()?;
        }
        // Building it is not part of a board's time.
        let heuristic = &*self.heuristic;
        let limits = Limits {
            max_depth: self.args.max_depth,
            deadline: self
                .args
                .timeout
                .and_then(|timeout| Instant::now().checked_add(timeout)),
            ..Limits::NONE
        };
        let (outcome, search) = if self.args.explain {
            let (outcome, search) = explain(board, heuristic, limits);
            (outcome, Some(search))
        } else {
            (search(board, heuristic, limits), None)
        };
        let solution = self.solution(outcome, position)?;
        match self.args.format {
            Format::Json => self.answers.write_json(&Report {
                solution,
                goal: self.args.goal,
                search: search.as_ref(),
            }),
            Format::Text => self.answers.write_text(&solution),
        }
    }

    fn solution(&self, outcome: Outcome, position: Position) -> Result<Solution, Failure> {
        match outcome {
            Outcome::Solved(solution) => Ok(solution),
            Outcome::DepthCapReached { lower_bound } => Err(Failure::DepthCapReached {
                position,
                max_depth: self.args.max_depth,
                lower_bound,
            }),
            Outcome::TimedOut { lower_bound } => Err(Failure::TimedOut {
                position,
                lower_bound,
            }),
            Outcome::Stopped => unreachable!("nothing here sets a stop flag"),
        }
    }
}

/// Standard output, written in large pieces unless that would keep someone waiting.
struct Answers {
    output: BufWriter<StdoutLock<'static>>,
    flushed: Instant,
}

impl Answers {
    fn new() -> Self {
        Self {
            output: BufWriter::with_capacity(PIECE_BYTES, io::stdout().lock()),
            flushed: Instant::now(),
        }
    }

    fn write_text(&mut self, solution: &Solution) -> Result<(), Failure> {
        let Solution { moves, centre } = *solution;
        let answer = Answer {
            moves: &moves,
            centre,
        };
        write!(self.output, "{answer}").map_err(Failure::Write)?;
        self.flush_if_due()
    }

    fn write_json(&mut self, answer: &impl Serialize) -> Result<(), Failure> {
        write_json(&mut self.output, answer)?;
        self.flush_if_due()
    }

    fn flush_if_due(&mut self) -> Result<(), Failure> {
        if self.flushed.elapsed() >= PATIENCE {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.flushed = Instant::now();
        self.output.flush().map_err(Failure::Write)
    }
}

/// A file, standard input or a board.
struct Input {
    name: String,
    source: Box<dyn Read>,
    progress: ProgressBar,
}

impl Input {
    fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self {
                name: "standard input".to_owned(),
                source: Box::new(io::stdin().lock()),
                progress: ProgressBar::hidden(),
            });
        }
        let name = path.display().to_string().escape_debug().to_string();
        let file = match File::open(path) {
            Ok(file) => file,
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return match path.to_string_lossy().parse::<Board>() {
                    Ok(board) => Ok(Self {
                        name,
                        source: Box::new(Cursor::new(board.to_string())),
                        progress: ProgressBar::hidden(),
                    }),
                    Err(illegal) => Err(Failure::NoInput {
                        name,
                        source,
                        illegal,
                    }),
                };
            }
            Err(source) => return Err(Failure::Read { name, source }),
        };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Self {
            name,
            source: Box::new(file),
            progress: if length >= LONG_FILE_BYTES {
                progress::of_bytes(length)
            } else {
                ProgressBar::hidden()
            },
        })
    }

    /// Moves the progress bar, if there is one, by so many bytes.
    fn show_progress(&self, bytes: usize) {
        if !self.progress.is_hidden() {
            self.progress.inc(bytes as u64);
        }
    }

    /// The next piece of the input, empty at its end.
    fn read<'a>(&mut self, buffer: &'a mut [u8]) -> Result<&'a [u8], Failure> {
        loop {
            match self.source.read(buffer) {
                Ok(length) => return Ok(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(Failure::Read {
                        name: self.name.clone(),
                        source,
                    });
                }
            }
        }
    }
}
