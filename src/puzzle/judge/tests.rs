use super::*;
use proptest::prelude::*;
use rstest::rstest;

const FIRST: &str = "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3";
const SECOND: &str = "1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3";

/// All boards of a text that comes in pieces of `size` bytes, and the error that ends it.
fn read(text: &[u8], size: usize) -> (Vec<String>, Option<String>) {
    let mut reader = Reader::default();
    let mut boards = Vec::new();
    let mut read_all = || -> Result<(), InputError> {
        for mut piece in text.chunks(size) {
            while let Some(board) = reader.next(&mut piece)? {
                boards.push(board.to_string());
            }
        }
        boards.extend(reader.finish()?.map(|board| board.to_string()));
        Ok(())
    };
    let error = read_all().err().map(|error| error.to_string());
    (boards, error)
}

#[rstest]
#[case::as_published(format!("{FIRST}\n{SECOND}\n0\n"))]
#[case::several_boards_a_line(format!("{FIRST} {SECOND} 0"))]
#[case::one_number_a_line(format!("{FIRST} {SECOND}").replace(' ', "\n"))]
#[case::blank_lines(format!("\n\n{FIRST}\n \n\t\n{SECOND}\n\n0\n"))]
#[case::crlf(format!("{FIRST}\r\n{SECOND}\r\n0\r\n"))]
#[case::every_white_space(format!("{FIRST}\x0b{SECOND}\x0c0").replace(' ', "\t \r"))]
#[case::no_final_newline(format!("{FIRST}\n{SECOND}\n0"))]
#[case::no_terminating_0(format!("{FIRST}\n{SECOND}\n"))]
#[case::neither(format!("{FIRST}\n{SECOND}"))]
#[case::text_after_the_0(format!("{FIRST}\n{SECOND}\n0\n4 5 nonsense \u{ff}"))]
#[case::a_0_in_other_words(format!("{FIRST}\n{SECOND}\n-00\n9"))]
#[case::signs_and_leading_zeros(format!("{FIRST}\n{SECOND}").replace(" 3", " +3").replace(" 2", " 02"))]
#[case::byte_order_mark(format!("\u{feff}{FIRST}\n{SECOND}\n0"))]
#[case::byte_order_mark_alone(format!("\u{feff}\n{FIRST}\n{SECOND}\n0"))]
#[case::digits_without_spaces(format!("{FIRST}\n{SECOND}\n0").replace(' ', ""))]
#[case::digits_and_numbers(format!("{}\n{SECOND}\n0", FIRST.replace(' ', "")))]
#[case::numbers_and_digits(format!("{FIRST} {}", SECOND.replace(' ', "")))]
fn every_shape_of_input_is_read_in_pieces_of_every_size(#[case] text: String) {
    for size in 1..=text.len() {
        let (boards, error) = read(text.as_bytes(), size);
        assert_eq!(
            boards,
            ["111132323132231222312133", "111111112222222233333333"],
            "{size}"
        );
        assert_eq!(error, None);
    }
}

#[rstest]
#[case::nothing("")]
#[case::white_space(" \n\n")]
#[case::zero("0")]
#[case::byte_order_mark("\u{feff}")]
#[case::zeros("000000000000000000000000 1")]
#[case::byte_order_mark_and_zero("\u{feff}0")]
fn an_input_without_boards_is_fine(#[case] text: &str) {
    assert_eq!(read(text.as_bytes(), 1), (vec![], None));
}

#[rstest]
#[case::not_a_number(
    "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3\n x 2 1 3 3",
    "board 2, line 4, column 2: cell 19 is \"x\", not 1, 2 or 3"
)]
#[case::out_of_range(
    "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 4 2 1 3 3",
    "board 2, line 3, column 39: cell 19 is 4, not 1, 2 or 3"
)]
#[case::zero_within(
    "1 0 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3",
    "board 2, line 3, column 3: cell 1 is 0, not 1, 2 or 3"
)]
#[case::counts(
    "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 1",
    "board 2, line 3, column 1: value 1 stands on 9 cells, not on 8; value 3 stands on 7 cells, not on 8"
)]
#[case::every_reason(
    "1 1 1 1 1 1 1 1 1 -3 2 2 2 2 2 2 2 2 2 ä\u{1b} 123456789012345678901234567 1 3 3",
    "board 2, line 3, column 19: cell 9 is -3, not 1, 2 or 3; cell 19 is \"ä\\u{1b}\", not 1, 2 or 3; \
     cell 20 is \"123456789012345678901234\"…, not 1, 2 or 3; \
     value 1 stands on 10 cells, not on 8; value 2 stands on 9 cells, not on 8"
)]
#[case::digits(
    "111132323132231222310134",
    "board 2, line 3, column 21: cell 20 is 0, not 1, 2 or 3; cell 23 is 4, not 1, 2 or 3"
)]
#[case::digits_from_0(
    "011132323132231222312133",
    "board 2, line 3, column 1: cell 0 is 0, not 1, 2 or 3"
)]
#[case::digits_within_a_board(
    "1 111132323132231222312133",
    "board 2, line 3, column 27: the input ends early: a board has 24 cells, here are 2; \
     cell 1 is \"111132323132231222312133\", not 1, 2 or 3"
)]
#[case::a_fault_and_cut_short(
    "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3\nöäü 1",
    "board 2, line 4, column 6: the input ends early: a board has 24 cells, here are 21; cell 19 is \"öäü\", not 1, 2 or 3"
)]
#[case::cut_short(
    "1 2\n3\n",
    "board 2, line 5, column 1: the input ends early: a board has 24 cells, here are 3"
)]
fn bad_input_is_told_with_its_place_and_every_reason_after_the_boards_before_it(
    #[case] bad: &str,
    #[case] message: &str,
) {
    let text = format!("{FIRST}\n\n{bad}");
    for size in [1, 7, text.len()] {
        let (boards, error) = read(text.as_bytes(), size);
        assert_eq!(boards, ["111132323132231222312133"]);
        assert_eq!(error.as_deref(), Some(message));
    }
}

#[rstest]
#[case::second("\u{feff}\u{feff}1", 2)]
#[case::behind_a_space(" \u{feff}1", 2)]
fn a_byte_order_mark_elsewhere_is_a_bad_cell(#[case] text: &str, #[case] column: usize) {
    let text = format!("{text} {}", &FIRST[2..]);
    let message =
        format!("board 1, line 1, column {column}: cell 0 is \"\\u{{feff}}1\", not 1, 2 or 3");
    assert_eq!(read(text.as_bytes(), 1), (vec![], Some(message)));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text: Vec<u8>, size in 1..64_usize) {
        read(&text, size);
    }
}

#[test]
fn an_answer_is_two_lines() {
    let answer = |moves: &str, centre| {
        let moves = &moves.parse().unwrap();
        Answer { moves, centre }.to_string()
    };
    assert_eq!(answer("DDHH", Some(Value::Two)), "DDHH\n2\n");
    assert_eq!(answer("", Some(Value::One)), "No moves needed\n1\n");
    assert_eq!(answer("A", None), "A\n-\n");
}
