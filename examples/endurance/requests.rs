//! What the soak asks, and what has to come back.

use http::header::{ACCEPT, IF_NONE_MATCH};
use http::{Method, StatusCode};
use rotation_game::Board;
use rotation_game::http::Code;
use rotation_game::puzzle::{Goal, Pattern};
use serde_json::{Value, json};

use crate::batches;
use crate::boards::{DATABASE, Dice};
use crate::client::Call;
use crate::verdict::Expected;

/// How many boards are asked for again and again, and how many goals: fewer than a server keeps.
const KNOWN_BOARDS: usize = 500;
const KNOWN_GOALS: usize = 3;

/// What can be asked and is answered at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Hit,
    Miss,
    Explained,
    Misplaced,
    DepthCap,
    KnownGoal,
    NewGoal,
    MisplacedGoal,
    SearchTimeout,
    MalformedJson,
    WrongShape,
    IllegalBoard,
    IllegalGoal,
    WrongType,
    TooLarge,
    NotAcceptable,
    NotFound,
    WrongMethod,
    Rating,
    Head,
    NotModified,
    Solutions,
    Replay,
    Random,
    RandomAtDistance,
    IllegalPath,
    Page,
    Document,
    Lines,
    Text,
}

/// A request and what has to come back.
pub(crate) struct Asked {
    pub(crate) call: Call,
    pub(crate) expected: Expected,
}

impl Asked {
    pub(crate) fn new(call: Call, expected: Expected) -> Self {
        Self { call, expected }
    }

    pub(crate) fn refused(call: Call, code: Code) -> Self {
        Self::new(call, Expected::Problem(code))
    }
}

impl Kind {
    /// A request of this kind.
    pub(crate) fn ask(self, dice: &mut Dice) -> Asked {
        match self {
            Self::Hit => {
                let index = dice.below(KNOWN_BOARDS) as u64;
                let board = Dice::new(index).board();
                solve(board, Goal::Centre, &json!({"board": digits(board)}))
            }
            Self::Miss => {
                let board = dice.board();
                let cells: Vec<u8> = board.cells().iter().map(|value| value.get()).collect();
                let board_in_json = [json!(cells), digits(board)][dice.below(2)].clone();
                solve(
                    board,
                    Goal::Centre,
                    &json!({"board": board_in_json, "max_depth": 13}),
                )
            }
            Self::Explained => {
                let board = dice.board();
                solve(
                    board,
                    Goal::Centre,
                    &json!({"board": digits(board), "explain": true}),
                )
            }
            Self::Misplaced => {
                let board = dice.board();
                let body = json!({"board": digits(board), "heuristic": "misplaced"});
                solve(board, Goal::Centre, &body)
            }
            Self::KnownGoal => {
                let index = dice.below(KNOWN_GOALS) as u64;
                let goal = Dice::new(index).board();
                let moves = dice.below(7);
                reach(dice.turned(goal, moves), goal.into(), "pattern-database")
            }
            Self::NewGoal => {
                let (board, goal) = dice.pair(6);
                reach(board, goal, "pattern-database")
            }
            Self::MisplacedGoal => {
                let (board, goal) = dice.pair(4);
                reach(board, goal, "misplaced")
            }
            Self::DepthCap | Self::SearchTimeout => self.beyond_its_limits(dice),
            Self::MalformedJson
            | Self::WrongShape
            | Self::IllegalBoard
            | Self::IllegalGoal
            | Self::WrongType
            | Self::TooLarge
            | Self::NotAcceptable
            | Self::NotFound
            | Self::WrongMethod
            | Self::IllegalPath => self.wrong(dice),
            Self::Rating
            | Self::Head
            | Self::NotModified
            | Self::Solutions
            | Self::Replay
            | Self::Random
            | Self::RandomAtDistance => self.of_a_board(dice),
            Self::Page => page(dice),
            Self::Document => Asked::new(
                Call::get("/openapi.yaml", "/openapi.yaml"),
                Expected::Body(include_str!("../../openapi.yaml")),
            ),
            Self::Lines => batches::lines(dice),
            Self::Text => batches::text(dice),
        }
    }

    fn beyond_its_limits(self, dice: &mut Dice) -> Asked {
        if self == Self::DepthCap {
            let (board, cap) = (dice.farthest(), dice.below(13));
            let call = Call::solve(&json!({"board": digits(board), "max_depth": cap}));
            return Asked::refused(call, Code::DepthCapReached);
        }
        // Another board is some 16 moves away, which this heuristic does not reach within a day.
        let call = Call::solve(&json!({
            "board": digits(dice.board()),
            "goal": digits(dice.board()),
            "heuristic": "misplaced",
            "timeout_ms": 20,
        }));
        Asked::new(call, Expected::OutOfTime)
    }

    /// What a client does wrong.
    fn wrong(self, dice: &mut Dice) -> Asked {
        let board = dice.board();
        let plain = json!({"board": digits(board)});
        let json = |body: String| Call::post("/solve", "application/json", body);
        match self {
            Self::MalformedJson => {
                let mut body = plain.to_string();
                body.truncate(dice.below(body.len()));
                Asked::refused(json(body), Code::MalformedJson)
            }
            Self::WrongShape => {
                let body = [
                    json!({"board": digits(board), "depth": 5}),
                    json!({"board": digits(board), "max_depth": -1}),
                    json!({"board": digits(board), "heuristic": "best"}),
                    json!({"board": 7}),
                    json!([digits(board)]),
                    json!({}),
                ];
                let body = &body[dice.below(body.len())];
                Asked::refused(Call::solve(body), Code::InvalidRequest)
            }
            Self::IllegalBoard => Asked::refused(
                Call::solve(&json!({"board": illegal(board, dice)})),
                Code::InvalidBoard,
            ),
            Self::IllegalGoal => {
                let body = json!({"board": digits(board), "goal": illegal(board, dice)});
                Asked::refused(Call::solve(&body), Code::InvalidGoal)
            }
            Self::WrongType => {
                let route = dice.one_of(&["/solve", "/solve/batch"]);
                let call = Call::post(route, "text/html", plain.to_string());
                Asked::refused(call, Code::UnsupportedMediaType)
            }
            Self::TooLarge => {
                let body = plain.to_string() + &" ".repeat(4096);
                let call = json(body).with(http::header::CONNECTION, "close");
                Asked::refused(call, Code::PayloadTooLarge)
            }
            Self::NotAcceptable => {
                let call = [Call::solve(&plain), of("/boards/{board}", board, "")];
                let call = call[dice.below(2)].clone().with(ACCEPT, "text/html");
                Asked::refused(call, Code::NotAcceptable)
            }
            Self::NotFound => {
                let call = [
                    Call::get("nowhere", format!("/boards/{board}/moves")),
                    Call::get("/problems/{code}", format!("/problems/{board}")),
                ];
                Asked::refused(call[dice.below(2)].clone(), Code::NotFound)
            }
            Self::WrongMethod => {
                let method = dice.one_of(&[&Method::DELETE, &Method::PUT, &Method::PATCH]);
                let route = dice.one_of(&["/solve", "/livez"]);
                let call = Call::new(method.clone(), route, route);
                Asked::refused(call, Code::MethodNotAllowed)
            }
            _ => {
                let path = format!("/boards/{}", illegal(board, dice));
                Asked::refused(Call::get("/boards/{board}", path), Code::InvalidBoard)
            }
        }
    }

    /// What the table tells of a board.
    fn of_a_board(self, dice: &mut Dice) -> Asked {
        let (board, seed) = (dice.board(), dice.number());
        let ok = Expected::Status(StatusCode::OK);
        match self {
            Self::Rating => Asked::new(of("/boards/{board}", board, ""), ok),
            Self::Head => {
                let call = of("/boards/{board}", board, "");
                Asked::new(
                    Call {
                        method: Method::HEAD,
                        ..call
                    },
                    ok,
                )
            }
            Self::NotModified => {
                let call = of("/boards/{board}", board, "").with(IF_NONE_MATCH, "*");
                Asked::new(call, Expected::Status(StatusCode::NOT_MODIFIED))
            }
            Self::Solutions => {
                let (offset, limit) = (dice.below(50), 1 + dice.below(100));
                let page = format!("/solutions?offset={offset}&limit={limit}");
                Asked::new(of("/boards/{board}/solutions", board, &page), ok)
            }
            Self::Replay => {
                let mut moves = DATABASE.solve(board).moves.to_string();
                moves.extend((moves.len()..=dice.below(50)).map(|_| 'A'));
                let goal = if dice.one_in(2) {
                    format!("?goal={board}")
                } else {
                    String::new()
                };
                let path = format!("/replay/{moves}A{goal}");
                Asked::new(of("/boards/{board}/replay/{moves}", board, &path), ok)
            }
            Self::Random => {
                let query = if dice.one_in(2) {
                    format!("?seed={seed}")
                } else {
                    String::new()
                };
                let path = format!("/boards/random{query}");
                Asked::new(Call::get("/boards/random", path), Expected::Drawn(None))
            }
            _ => {
                let distance = u32::try_from(dice.below(14)).expect("it is small");
                let path = format!("/boards/random?distance={distance}&seed={seed}");
                Asked::new(
                    Call::get("/boards/random", path),
                    Expected::Drawn(Some(distance)),
                )
            }
        }
    }
}

pub(crate) fn digits(board: Board) -> Value {
    board.to_string().into()
}

fn solve(board: Board, goal: Goal, body: &Value) -> Asked {
    Asked::new(Call::solve(body), Expected::Solution(board, goal))
}

fn reach(board: Board, goal: Pattern, heuristic: &str) -> Asked {
    let body = json!({"board": digits(board), "goal": goal.to_string(), "heuristic": heuristic});
    solve(board, Goal::Pattern(goal), &body)
}

fn of(route: &'static str, board: Board, rest: &str) -> Call {
    Call::get(route, format!("/boards/{board}{rest}"))
}

/// A board, or a goal, with one cell too few, one that is a 4, or one changed.
pub(crate) fn illegal(board: Board, dice: &mut Dice) -> String {
    let mut digits = board.to_string();
    let last = digits.pop();
    match dice.below(3) {
        0 => {}
        1 => digits.push('4'),
        _ => digits.push(if last == Some('1') { '2' } else { '1' }),
    }
    digits
}

fn page(dice: &mut Dice) -> Asked {
    let call = match dice.below(4) {
        0 => Call::get("/", "/"),
        1 => Call::get("/livez", "/livez"),
        2 => Call::get("/readyz", "/readyz"),
        _ => {
            let code = dice.one_of(&Code::ALL);
            Call::get("/problems/{code}", format!("/problems/{}", code.as_str()))
        }
    };
    Asked::new(call, Expected::Status(StatusCode::OK))
}
