use crate::boards::Dice;
use crate::leaving::Leaving;
use crate::requests::Kind;

/// What a client does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    Asks(Kind),
    /// It asks for what takes long, and leaves before the answer.
    Leaves,
    /// It leaves before it has sent or taken everything.
    Breaks(Leaving),
    /// It sends no more of its body, and waits for the answer.
    Stalls,
}

/// How many of 10,000 requests do what; the rest are misses.
const MIX: [(Deed, usize); 35] = [
    (Deed::Asks(Kind::Hit), 3000),
    (Deed::Asks(Kind::Explained), 200),
    (Deed::Asks(Kind::Misplaced), 100),
    (Deed::Asks(Kind::KnownGoal), 150),
    (Deed::Asks(Kind::NewGoal), 4),
    (Deed::Asks(Kind::MisplacedGoal), 50),
    (Deed::Asks(Kind::DepthCap), 200),
    (Deed::Asks(Kind::SearchTimeout), 5),
    (Deed::Asks(Kind::MalformedJson), 100),
    (Deed::Asks(Kind::WrongShape), 150),
    (Deed::Asks(Kind::IllegalBoard), 150),
    (Deed::Asks(Kind::IllegalGoal), 50),
    (Deed::Asks(Kind::WrongType), 50),
    (Deed::Asks(Kind::TooLarge), 50),
    (Deed::Asks(Kind::NotAcceptable), 50),
    (Deed::Asks(Kind::NotFound), 100),
    (Deed::Asks(Kind::WrongMethod), 50),
    (Deed::Asks(Kind::Rating), 500),
    (Deed::Asks(Kind::Head), 50),
    (Deed::Asks(Kind::NotModified), 100),
    (Deed::Asks(Kind::Solutions), 400),
    (Deed::Asks(Kind::Replay), 400),
    (Deed::Asks(Kind::Random), 300),
    (Deed::Asks(Kind::RandomAtDistance), 10),
    (Deed::Asks(Kind::IllegalPath), 50),
    (Deed::Asks(Kind::Page), 200),
    (Deed::Asks(Kind::Document), 10),
    (Deed::Asks(Kind::Lines), 50),
    (Deed::Asks(Kind::Text), 50),
    (Deed::Leaves, 50),
    (Deed::Breaks(Leaving::Head), 40),
    (Deed::Breaks(Leaving::Body), 40),
    (Deed::Breaks(Leaving::Batch), 20),
    (Deed::Breaks(Leaving::Answers), 5),
    (Deed::Stalls, 1),
];
/// After how many requests the same deeds come again.
pub(crate) const ROUND: usize = 10_000;

/// The deeds of a round, in an order that depends on the seed.
pub(crate) fn round(seed: u64) -> Vec<Deed> {
    let mut deeds: Vec<Deed> = MIX
        .iter()
        .flat_map(|&(deed, count)| std::iter::repeat_n(deed, count))
        .collect();
    deeds.resize(ROUND, Deed::Asks(Kind::Miss));
    let mut dice = Dice::new(seed);
    for last in (1..deeds.len()).rev() {
        deeds.swap(last, dice.below(last + 1));
    }
    deeds
}
