//! What the table tells, against brute force and counts.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rayon::prelude::*;
use rotation_game::analysis::{Effect, Sampler, Samplers, Solutions, census, rate, replay};
use rotation_game::search::Solution;
use rotation_game::{Board, Move, MoveSequence, PatternDatabase, Value};

use crate::oracle::{all_solutions, near_boards};
use crate::support::boards;

#[test]
fn near_boards_have_the_solutions_that_brute_force_finds_in_that_order() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(150);
    proptest!(config, |(board in near_boards())| {
        let distance = database.distance(board);
        let expected = all_solutions(board, distance as usize);
        let solutions = Solutions::new(&database, board);
        prop_assert_eq!(solutions.total(), expected.len() as u64);
        let found: Vec<(String, u8)> = (0..solutions.total())
            .map(|index| solutions.get(index).unwrap())
            .map(|solution| (solution.moves.to_string(), solution.centre.unwrap().get()))
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(solutions.get(solutions.total()), None);
    });
}

/// All ways to come closer to a nearest value at each move.
fn closer_and_closer(database: &PatternDatabase, board: Board) -> Vec<Solution> {
    fn extend(
        database: &PatternDatabase,
        board: Board,
        value: Value,
        moves: MoveSequence,
        found: &mut Vec<Solution>,
    ) {
        let distance = database.distance_to(board, value);
        if distance == 0 {
            found.push(Solution {
                moves,
                centre: Some(value),
            });
        }
        for next in Move::ALL {
            if database.distance_to(board.after(next), value) < distance {
                let mut moves = moves;
                moves.push(next);
                extend(database, board.after(next), value, moves, found);
            }
        }
    }
    let mut found = Vec::new();
    for value in Value::ALL {
        if database.distance_to(board, value) == database.distance(board) {
            extend(database, board, value, MoveSequence::EMPTY, &mut found);
        }
    }
    found.sort_by_key(|solution| solution.moves);
    found
}

#[test]
fn any_solution_can_be_had_without_the_ones_before_it() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(300);
    proptest!(config, |(board in boards(), pick in any::<prop::sample::Index>())| {
        let expected = closer_and_closer(&database, board);
        let solutions = Solutions::new(&database, board);
        prop_assert_eq!(solutions.total(), expected.len() as u64);
        let index = pick.index(expected.len());
        for index in [0, index, expected.len() - 1] {
            prop_assert_eq!(solutions.get(index as u64), Some(expected[index]));
        }
        prop_assert_eq!(solutions.get(0), Some(database.solve(board)));
    });
}

/// A solved board, one whose six solutions end with 2, one whose 2,081 end with any of the three
/// values, and one with 7,774, the most that a search for such a board found.
const MANY_SOLUTIONS: [(&str, usize); 4] = [
    ("222222111221133111333333", 1),
    ("111111112222222233333333", 6),
    ("332121211212333233322111", 2_081),
    ("211312223212313233312113", 7_774),
];

#[test]
fn an_iterator_from_any_index_yields_what_get_returns() {
    let database = PatternDatabase::build();
    for (board, total) in MANY_SOLUTIONS {
        let board = board.parse().unwrap();
        let solutions = Solutions::new(&database, board);
        assert_eq!(solutions.total(), total as u64);
        let all: Vec<Solution> = solutions.iter().collect();
        assert_eq!(all, closer_and_closer(&database, board));
        for (index, solution) in (0..).zip(&all) {
            assert_eq!(solutions.get(index), Some(*solution), "{board} {index}");
        }
        let stride = total / 500 + 1;
        for index in (0..total).step_by(stride).chain([total - 1]) {
            let rest = solutions.starting_at(index as u64);
            assert_eq!(rest.size_hint(), (total - index, Some(total - index)));
            assert!(rest.eq(all[index..].iter().copied()), "{board} {index}");
        }
        for behind in [total as u64, u64::MAX] {
            assert_eq!(solutions.starting_at(behind).next(), None);
        }
    }
}

#[test]
fn a_rating_tells_each_values_distance_and_each_moves_effect() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(300);
    proptest!(config, |(board in boards())| {
        let rating = rate(&database, board);
        let each = [rating.distances.ones, rating.distances.twos, rating.distances.threes];
        prop_assert_eq!(each.into_iter().min(), Some(rating.distance));
        prop_assert_eq!(rating.solution.moves.len(), rating.distance as usize);
        for (rated, made) in rating.moves.iter().zip(Move::ALL) {
            prop_assert_eq!((rated.made, rated.board), (made, board.after(made)));
            prop_assert_eq!(rated.distance, database.distance(board.after(made)));
            let expected = match i64::from(rated.distance) - i64::from(rating.distance) {
                -1 => Effect::Closer,
                0 => Effect::Same,
                1 => Effect::Farther,
                other => panic!("a move changes the distance by {other}"),
            };
            prop_assert_eq!(rated.effect, expected);
        }
    });
}

#[test]
fn each_values_distance_is_right_on_near_boards() {
    let database = PatternDatabase::build();
    let config = ProptestConfig::with_cases(100);
    proptest!(config, |(board in near_boards())| {
        let rating = rate(&database, board);
        let shortest: BTreeSet<u8> = all_solutions(board, rating.distance as usize)
            .into_iter()
            .map(|(_, centre)| centre)
            .collect();
        let each = [rating.distances.ones, rating.distances.twos, rating.distances.threes];
        let nearest = (1..=3).zip(each).filter(|(_, distance)| *distance == rating.distance);
        prop_assert_eq!(nearest.map(|(value, _)| value).collect::<BTreeSet<u8>>(), shortest);
    });
}

#[test]
fn a_replay_knows_the_judges_answer_from_others() {
    let database = PatternDatabase::build();
    let board = "111111112222222233333333".parse().unwrap();
    let verdict = |moves: &str| {
        let moves: MoveSequence = moves.parse().unwrap();
        let replay = replay(&database, board, &moves, None);
        assert_eq!(replay.steps.len(), moves.len());
        assert_eq!(replay.board, board.after_all(&moves));
        assert_eq!(replay.centre, replay.board.centre());
        (
            replay.solved,
            replay.optimal,
            replay.lexicographically_smallest,
            replay.distance,
        )
    };
    assert_eq!(verdict("DDHH"), (true, true, true, 0));
    assert_eq!(verdict("HHDD"), (true, true, false, 0));
    assert_eq!(verdict("AFDDHH"), (true, false, false, 0));
    assert_eq!(verdict("DD"), (false, false, false, 2));
    assert_eq!(verdict(""), (false, false, false, 4));
}

/// Pearson's statistic less what is expected of it, in standard deviations.
fn chi_square_deviation(counts: impl IntoIterator<Item = u64>, kinds: u32, draws: u32) -> f64 {
    let expected = f64::from(draws) / f64::from(kinds);
    let (mut statistic, mut seen) = (0.0, 0_u32);
    for count in counts {
        let count = f64::from(u32::try_from(count).unwrap());
        statistic += (count - expected).powi(2) / expected;
        seen += 1;
    }
    statistic += f64::from(kinds - seen) * expected;
    let freedom = f64::from(kinds - 1);
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

fn count_draws(sampler: &Sampler<'_>, draws: u32) -> BTreeMap<Board, u64> {
    let board = |seed: u32| sampler.draw(seed.into()).board;
    let boards: Vec<Board> = (0..draws).into_par_iter().map(board).collect();
    let mut counts = BTreeMap::new();
    for board in boards {
        *counts.entry(board).or_default() += 1;
    }
    counts
}

#[test]
fn boards_at_distances_0_and_1_are_equally_likely() {
    let database = PatternDatabase::build();
    for (distance, boards) in [(0, 38_610), (1, 308_880)] {
        let sampler = Sampler::at_distance(&database, distance).unwrap();
        let draws = 200_000;
        let counts = count_draws(&sampler, draws);
        let deviation = chi_square_deviation(counts.into_values(), boards, draws);
        assert!(deviation.abs() < 4.0, "{distance}: {deviation}");
    }
}

#[test]
fn all_192_boards_at_distance_13_are_drawn_and_equally_likely() {
    let database = PatternDatabase::build();
    let sampler = Sampler::at_distance(&database, 13).unwrap();
    let draws = 20_000;
    let counts = count_draws(&sampler, draws);
    assert_eq!(counts.len(), 192);
    let deviation = chi_square_deviation(counts.into_values(), 192, draws);
    assert!(deviation.abs() < 4.0, "{deviation}");
}

/// Each draw has as many nearest values as it has by chance, and no value is favoured.
#[test]
fn at_every_other_distance_ties_and_nearest_values_are_as_frequent_as_the_census_says() {
    let database = PatternDatabase::build();
    let census = census(&database, |_| ());
    for distance in 2..=12_u32 {
        let row = census.distances[distance as usize];
        let sampler = Sampler::at_distance(&database, distance).unwrap();
        let draws = 3_000;
        let (mut ties, mut nearest) = (0, [0; 3]);
        for (board, count) in count_draws(&sampler, draws) {
            let near = Value::ALL.map(|value| database.distance_to(board, value) == distance);
            if let [true, false, false] | [false, true, false] | [false, false, true] = near {
                let value = near.iter().position(|&near| near).unwrap();
                nearest[value] += count;
            } else {
                ties += count;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let (share, found) = (row.ties as f64 / row.boards as f64, ties as f64);
        let expected = share * f64::from(draws);
        let spread = (expected * (1.0 - share)).sqrt().max(1.0);
        assert!(
            (found - expected).abs() < 4.0 * spread,
            "{distance}: {found} ties, not {expected}"
        );
        let single = draws - u32::try_from(ties).unwrap();
        let deviation = chi_square_deviation(nearest, 3, single);
        assert!(deviation < 6.0, "{distance}: {nearest:?}");
    }
}

#[test]
fn drawn_boards_are_as_far_as_was_asked_and_a_seed_draws_one_board() {
    let database = PatternDatabase::build();
    for distance in 0..=13 {
        let sampler = Sampler::at_distance(&database, distance).unwrap();
        for seed in [0, 1, u64::MAX] {
            let drawn = sampler.draw(seed);
            assert_eq!((drawn.distance, drawn.seed), (distance, seed));
            assert_eq!(database.distance(drawn.board), distance);
            assert_eq!(sampler.draw(seed), drawn);
        }
    }
    assert!(Sampler::at_distance(&database, 14).is_none());
}

/// The boards that some seeds draw, as the first version drew them: row `d` is for distance `d`.
#[rustfmt::skip]
const PROMISED: [[&str; 3]; 14] = [
    ["112222333223321333211111", "311331222332231222331111", "133313222312213222113131"],
    ["112222233323321333211111", "131331122332231222332111", "221121133213322333113221"],
    ["331311223112232221331231", "122221333113312123331212", "232223113331233111222131"],
    ["111333223112132222331231", "311132221332311223131232", "331213122112232213312313"],
    ["131313331223122132321122", "323222113231131121323123", "123213221312213321333112"],
    ["332132221332212112111333", "113312232132222213311331", "122233223112211123133313"],
    ["312231322313213222331111", "131223113232233311122321", "331211221333231212332121"],
    ["313113322232223211113123", "332111231121211332233232", "113321313123132223112223"],
    ["312321131233232322131211", "123332211112331222321133", "313122132133113212233221"],
    ["321232113233121312312312", "232333213211321112223113", "123122311313333121223122"],
    ["221133331311223232213121", "112312322133123211132332", "231133233322133212111122"],
    ["321113212123231123321233", "111313323322312111223322", "213113313322132222233111"],
    ["123133232322111113123223", "132132332322131113123221", "123223221331212113133231"],
    ["322113113132312322231123", "211323232313131212121332", "312113233323112211223123"],
];

#[test]
fn a_seed_draws_the_promised_board_at_every_distance() {
    let database = PatternDatabase::build();
    let samplers = Samplers::default();
    for (distance, boards) in (0..).zip(PROMISED) {
        let sampler = samplers.at_distance(&database, distance).unwrap();
        let found = [0, 42, u64::MAX].map(|seed| sampler.draw(seed).board.to_string());
        assert_eq!(found, boards, "{distance}");
    }
    assert!(samplers.at_distance(&database, 14).is_none());
}

/// Draws enough boards to read every part of a sampler's tables.
#[test]
fn many_seeds_draw_the_promised_boards() {
    let database = PatternDatabase::build();
    let samplers = Samplers::default();
    let digest = |distance| {
        let sampler = samplers.at_distance(&database, distance).unwrap();
        let digits = (0..2_000).flat_map(|seed| sampler.draw(seed).board.to_string().into_bytes());
        // FNV-1a.
        digits.fold(0xcbf2_9ce4_8422_2325, |hash: u64, digit| {
            (hash ^ u64::from(digit)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let digests: Vec<u64> = (0..=13).map(digest).collect();
    assert_eq!(
        digests,
        [
            0xc557_d835_02b5_92c3,
            0xe300_85b0_843d_5e39,
            0x33e3_e961_15e2_1f55,
            0xe6fa_fb05_2b1f_2281,
            0xcc67_6729_2f56_107d,
            0xebd3_90be_71f4_8b4f,
            0x1f33_b74d_0baf_e7f5,
            0xf3a2_941d_3bef_1c83,
            0x06c5_e29e_8601_33a7,
            0x8451_7dc5_f75c_8e37,
            0x97de_527e_2596_b3dd,
            0xe0e1_b444_73a1_0ac5,
            0x45a9_2b16_e0ba_f74b,
            0x48b4_613c_e467_8645,
        ]
    );
}
