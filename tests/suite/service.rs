//! The service behind HTTP: cache, shared flights, admission, limits.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use rotation_game::puzzle::Goal;
use rotation_game::search::HeuristicKind::{self, Misplaced, PatternDatabase};
use rotation_game::service::{Answer, Config, Error, Request, Service, Source};
use rotation_game::{Board, Move};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::advance;

use crate::engine::{CONFIG, boards, service, until};

fn request(board: Board, heuristic: HeuristicKind) -> Request {
    Request {
        board,
        goal: Goal::Centre,
        max_depth: 32,
        timeout: Duration::from_mins(1),
        heuristic,
        explain: false,
    }
}

fn solve(service: &Service, request: Request) -> JoinHandle<Result<Answer, Error>> {
    let service = service.clone();
    tokio::spawn(async move { service.solve(request).await })
}

fn board() -> Board {
    boards().next().unwrap()
}

fn running(service: &Service) -> i64 {
    service.metrics().searches_running.get()
}

fn waiting(service: &Service) -> i64 {
    service.metrics().searches_waiting.get()
}

#[tokio::test]
async fn ten_callers_of_one_board_cause_one_search() {
    let (service, engine) = service(CONFIG);
    let callers: Vec<_> = (0..10)
        .map(|_| solve(&service, request(board(), Misplaced)))
        .collect();
    until("all have missed", || {
        service.metrics().cache_misses.get() == 10
    })
    .await;
    engine.release();
    for caller in callers {
        let answer = caller.await.unwrap().unwrap();
        assert!(matches!(answer.source, Source::Search { .. }));
    }
    assert_eq!(engine.searches(), 1);
    assert_eq!(running(&service), 0);
}

#[tokio::test]
async fn a_caller_that_leaves_does_not_stop_the_search_and_the_last_one_does() {
    let (service, engine) = service(CONFIG);
    let first = solve(&service, request(board(), Misplaced));
    until("it runs", || running(&service) == 1).await;
    let second = solve(&service, request(board(), Misplaced));
    until("both wait", || service.metrics().cache_misses.get() == 2).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert_eq!((running(&service), engine.stopped()), (1, 0));
    second.abort();
    until("the search is stopped", || engine.stopped() == 1).await;
    until("its thread is free", || running(&service) == 0).await;
    assert_eq!(service.metrics().searches_abandoned.get(), 1);
}

#[tokio::test]
async fn a_caller_after_the_last_has_left_gets_a_search_of_its_own() {
    let (service, engine) = service(CONFIG);
    engine.be_stubborn();
    let first = solve(&service, request(board(), Misplaced));
    until("it runs", || running(&service) == 1).await;
    first.abort();
    until("it was abandoned", || {
        service.metrics().searches_abandoned.get() == 1
    })
    .await;
    // The first search has not noticed yet, and the second must not be handed its end.
    let second = solve(&service, request(board(), Misplaced));
    until("the second waits", || waiting(&service) == 1).await;
    engine.release();
    assert!(second.await.unwrap().is_ok());
    assert_eq!(engine.searches(), 2);
}

#[tokio::test]
async fn a_callers_own_timeout_ends_only_its_own_wait() {
    let (service, engine) = service(CONFIG);
    let patient = solve(&service, request(board(), Misplaced));
    until("it runs", || running(&service) == 1).await;
    let hasty = Request {
        timeout: Duration::from_millis(5),
        ..request(board(), Misplaced)
    };
    let error = service.solve(hasty).await.unwrap_err();
    assert_eq!(error, Error::TimedOut { lower_bound: 4 });
    assert_eq!((running(&service), engine.stopped()), (1, 0));
    engine.release();
    assert!(patient.await.unwrap().is_ok());
    assert_eq!(engine.searches(), 1);
}

#[tokio::test]
async fn a_timeout_frees_the_thread() {
    let (service, engine) = service(CONFIG);
    let hasty = Request {
        timeout: Duration::from_millis(5),
        ..request(board(), Misplaced)
    };
    assert!(matches!(
        service.solve(hasty).await,
        Err(Error::TimedOut { .. })
    ));
    until("its thread is free", || running(&service) == 0).await;
    assert_eq!(engine.stopped(), 1);
    assert_eq!(service.metrics().searches_timed_out.get(), 1);
}

#[tokio::test]
async fn a_search_ends_by_the_services_own_limit_and_a_later_caller_goes_on() {
    let (service, engine) = service(Config {
        search_timeout: Duration::from_millis(300),
        ..CONFIG
    });
    let early = Request {
        timeout: Duration::from_millis(300),
        ..request(board(), Misplaced)
    };
    let first = solve(&service, early);
    until("it runs", || running(&service) == 1).await;
    let late = Request {
        timeout: Duration::from_mins(1),
        ..early
    };
    let second = solve(&service, late);
    until("both wait", || service.metrics().cache_misses.get() == 2).await;
    assert!(matches!(first.await.unwrap(), Err(Error::TimedOut { .. })));
    until("there is a second search", || engine.searches() == 2).await;
    engine.release();
    assert!(second.await.unwrap().is_ok());
}

#[tokio::test]
async fn beyond_capacity_a_search_is_refused_at_once_and_all_else_is_answered() {
    let (service, engine) = service(Config {
        search_queue: 1,
        ..CONFIG
    });
    let mut boards = boards();
    let known = boards.next().unwrap();
    service
        .solve(request(known, PatternDatabase))
        .await
        .unwrap();

    let runs = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("one runs", || running(&service) == 1).await;
    let waits = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("one waits", || waiting(&service) == 1).await;

    let refused = service
        .solve(request(boards.next().unwrap(), Misplaced))
        .await;
    assert_eq!(refused.unwrap_err(), Error::Overloaded);
    assert_eq!(service.metrics().searches_rejected.get(), 1);
    let hit = service.solve(request(known, Misplaced)).await.unwrap();
    assert!(matches!(hit.source, Source::Cache));
    let exact = service
        .solve(request(boards.next().unwrap(), PatternDatabase))
        .await;
    assert!(exact.is_ok(), "long searches do not delay exact ones");
    assert!(service.is_ready());

    engine.release();
    assert!(runs.await.unwrap().is_ok());
    assert!(waits.await.unwrap().is_ok());
    assert_eq!((running(&service), waiting(&service)), (0, 0));
}

#[tokio::test]
async fn with_a_concurrency_of_1_an_exact_search_still_passes_a_long_one() {
    let (service, engine) = service(Config {
        search_concurrency: 1,
        ..CONFIG
    });
    let mut boards = boards();
    let long = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("it runs", || running(&service) == 1).await;
    assert!(
        service
            .solve(request(boards.next().unwrap(), PatternDatabase))
            .await
            .is_ok()
    );
    engine.release();
    assert!(long.await.unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn exact_searches_are_never_refused_however_many_come_at_once() {
    let (service, engine) = service(Config {
        search_concurrency: 1,
        search_queue: 0,
        ..CONFIG
    });
    let mut some = boards();
    let long = solve(&service, request(some.next().unwrap(), Misplaced));
    until("it runs", || running(&service) == 1).await;
    let many: Vec<_> = some
        .flat_map(|board| Move::ALL.map(|next| board.after(next)))
        .flat_map(|board| Move::ALL.map(|next| board.after(next)))
        .map(|board| solve(&service, request(board, PatternDatabase)))
        .collect();
    for caller in many {
        assert!(caller.await.unwrap().is_ok());
    }
    assert_eq!(service.metrics().searches_rejected.get(), 0);
    engine.release();
    assert!(long.await.unwrap().is_ok());
    assert_eq!((running(&service), waiting(&service)), (0, 0));
}

#[tokio::test]
async fn a_panic_costs_none_of_those_whose_searches_go_together_with_it() {
    let (service, engine) = service(CONFIG);
    engine.panic_on(board());
    let callers: Vec<_> = boards()
        .take(20)
        .map(|board| solve(&service, request(board, PatternDatabase)))
        .collect();
    let mut answers = Vec::new();
    for caller in callers {
        answers.push(caller.await.unwrap());
    }
    assert_eq!(answers[0].as_ref().unwrap_err(), &Error::Internal);
    assert!(answers[1..].iter().all(Result::is_ok));
    assert_eq!(running(&service), 0);
}

#[tokio::test]
async fn whoever_waits_too_long_to_run_is_told_of_the_overload() {
    let (service, engine) = service(CONFIG);
    let mut boards = boards();
    let long = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("it runs", || running(&service) == 1).await;
    let waits = Request {
        timeout: Duration::from_millis(5),
        ..request(boards.next().unwrap(), Misplaced)
    };
    assert_eq!(service.solve(waits).await.unwrap_err(), Error::Overloaded);
    until("its place in the queue is free", || waiting(&service) == 0).await;
    engine.release();
    assert!(long.await.unwrap().is_ok());
    assert_eq!(engine.searches(), 1, "the second never ran");
}

#[tokio::test(start_paused = true)]
async fn half_of_a_callers_time_is_for_its_search_and_not_for_waiting() {
    let (service, engine) = service(CONFIG);
    let mut boards = boards();
    let runs = solve(&service, request(boards.next().unwrap(), Misplaced));
    let waits = solve(&service, request(boards.next().unwrap(), Misplaced));
    while (running(&service), waiting(&service)) != (1, 1) {
        yield_now().await;
    }
    advance(Duration::from_secs(29)).await;
    assert!(!waits.is_finished(), "its time is a minute");
    advance(Duration::from_secs(2)).await;
    assert_eq!(waits.await.unwrap().unwrap_err(), Error::Overloaded);
    advance(Duration::from_secs(28)).await;
    engine.release();
    assert!(runs.await.unwrap().is_ok(), "it began in time");
    assert_eq!(engine.searches(), 1);
}

#[tokio::test]
async fn callers_that_leave_do_not_make_room_for_more_searches_than_are_allowed() {
    let (service, engine) = service(CONFIG);
    engine.be_stubborn();
    let mut boards = boards();
    for left in 0..5 {
        let caller = solve(&service, request(boards.next().unwrap(), Misplaced));
        until("it asks", || service.metrics().cache_misses.get() > left).await;
        caller.abort();
        let abandoned = || service.metrics().searches_abandoned.get() > left;
        until("it was abandoned", abandoned).await;
    }
    assert_eq!(
        (running(&service), engine.searches()),
        (1, 1),
        "its thread still runs"
    );
    engine.release();
    until("it ends", || running(&service) == 0).await;
}

#[tokio::test]
async fn a_panic_costs_its_own_callers_and_no_permit() {
    let (service, engine) = service(CONFIG);
    engine.panic(true);
    for board in boards().take(10) {
        let error = service.solve(request(board, Misplaced)).await.unwrap_err();
        assert_eq!(error, Error::Internal);
    }
    engine.panic(false);
    engine.release();
    assert!(service.solve(request(board(), Misplaced)).await.is_ok());
    assert_eq!(running(&service), 0);
}

#[tokio::test]
async fn the_board_used_least_recently_leaves_the_cache() {
    let (service, engine) = service(Config {
        cache_capacity: 2,
        ..CONFIG
    });
    let [a, b, c] = std::array::from_fn(|index| boards().nth(index).unwrap());
    for board in [a, b, a, c] {
        service
            .solve(request(board, PatternDatabase))
            .await
            .unwrap();
    }
    assert_eq!(engine.searches(), 3);
    for (board, is_known) in [(a, true), (c, true), (b, false)] {
        let answer = service
            .solve(request(board, PatternDatabase))
            .await
            .unwrap();
        assert_eq!(matches!(answer.source, Source::Cache), is_known);
    }
    assert_eq!(service.metrics().cache_evictions.get(), 2);
}

#[tokio::test]
async fn a_cache_of_capacity_0_keeps_nothing() {
    let (service, engine) = service(Config {
        cache_capacity: 0,
        ..CONFIG
    });
    for _ in 0..3 {
        service
            .solve(request(board(), PatternDatabase))
            .await
            .unwrap();
    }
    assert_eq!(engine.searches(), 3);
}

#[tokio::test]
async fn only_proven_answers_are_kept() {
    let (service, engine) = service(CONFIG);
    let hasty = Request {
        timeout: Duration::from_millis(20),
        ..request(board(), Misplaced)
    };
    assert!(service.solve(hasty).await.is_err());
    engine.release();
    let capped = Request {
        max_depth: 0,
        ..request(board(), Misplaced)
    };
    assert!(matches!(
        service.solve(capped).await,
        Err(Error::DepthCapReached { .. })
    ));
    assert_eq!(service.metrics().cache_entries.get(), 0);
    assert!(
        service
            .solve(request(board(), PatternDatabase))
            .await
            .is_ok()
    );
    assert_eq!(service.metrics().cache_entries.get(), 1);
}

#[tokio::test]
async fn a_known_solution_longer_than_the_cap_is_answered_as_a_search_would() {
    let board: Board = "112323233232111211122333".parse().unwrap();
    let heuristics = [PatternDatabase, Misplaced];
    for (heuristic, max_depth) in heuristics.into_iter().flat_map(|h| [(h, 3), (h, 8)]) {
        let (service, engine) = service(CONFIG);
        engine.release();
        let capped = Request {
            max_depth,
            ..request(board, heuristic)
        };
        let first = service.solve(capped).await.unwrap_err();
        let full = service
            .solve(request(board, PatternDatabase))
            .await
            .unwrap();
        assert_eq!(full.solution.moves.len(), 13);
        let searches = engine.searches();
        let known = service.solve(capped).await.unwrap_err();
        assert_eq!(known, first, "it does not matter who asked first");
        assert!(matches!(known, Error::DepthCapReached { .. }));
        assert_eq!(engine.searches(), searches, "the second was a hit");
    }
}

#[tokio::test]
async fn to_explain_is_to_search_afresh_and_alone() {
    let (service, engine) = service(CONFIG);
    engine.release();
    service
        .solve(request(board(), PatternDatabase))
        .await
        .unwrap();
    let explained = Request {
        explain: true,
        ..request(board(), Misplaced)
    };
    for _ in 0..2 {
        let answer = service.solve(explained).await.unwrap();
        let Source::Search { explanation, .. } = answer.source else {
            panic!("it was not searched for");
        };
        assert_eq!(explanation.unwrap().heuristic, "misplaced");
    }
    assert_eq!(engine.searches(), 3);
}

#[tokio::test]
async fn stopping_tells_those_who_wait_and_those_who_come() {
    let (service, engine) = service(CONFIG);
    let mut boards = boards();
    let runs = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("one runs", || running(&service) == 1).await;
    let waits = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("one waits", || waiting(&service) == 1).await;
    service.drain();
    assert!(!service.is_ready());
    service.stop();
    assert_eq!(runs.await.unwrap().unwrap_err(), Error::ShuttingDown);
    assert_eq!(waits.await.unwrap().unwrap_err(), Error::ShuttingDown);
    until("the thread is free", || running(&service) == 0).await;
    let late = service
        .solve(request(boards.next().unwrap(), PatternDatabase))
        .await;
    assert_eq!(late.unwrap_err(), Error::ShuttingDown);
    assert_eq!(engine.stopped(), 1);
}

/// Blocks every slot of the lane of lookups until the returned senders are dropped.
async fn block_lookups(service: &Service) -> Vec<mpsc::Sender<()>> {
    let slots = CONFIG.search_concurrency;
    let mut gates = Vec::new();
    for _ in 0..slots {
        let (gate, wait) = mpsc::channel::<()>();
        let service = service.clone();
        tokio::spawn(async move { service.lookup(move |_| wait.recv().is_err()).await });
        gates.push(gate);
    }
    until("the slots are busy", || {
        running(service) == i64::try_from(slots).unwrap()
    })
    .await;
    gates
}

#[tokio::test]
async fn lookups_delay_no_other_class_of_work() {
    let (service, engine) = service(CONFIG);
    engine.release();
    let gates = block_lookups(&service).await;
    for heuristic in [PatternDatabase, Misplaced] {
        assert!(service.solve(request(board(), heuristic)).await.is_ok());
    }
    let slot = service.batch_slot().await;
    let chunk = service.run_chunk(slot, |solver| {
        solver.solve(&request(board(), PatternDatabase))
    });
    assert!(chunk.await.unwrap().is_ok());
    drop(gates);
    until("all is quiet", || running(&service) == 0).await;
}

#[tokio::test]
async fn lookups_beyond_the_queue_are_refused() {
    let (service, _) = service(Config {
        search_queue: 1,
        ..CONFIG
    });
    let gates = block_lookups(&service).await;
    let queued = tokio::spawn({
        let service = service.clone();
        async move { service.lookup(|_| ()).await }
    });
    until("one is queued", || waiting(&service) == 1).await;
    assert_eq!(service.lookup(|_| ()).await, Err(Error::Overloaded));
    assert_eq!(service.metrics().searches_rejected.get(), 1);
    drop(gates);
    assert_eq!(queued.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn a_lookup_that_panics_gives_its_slot_back() {
    let (service, _) = service(CONFIG);
    for _ in 0..2 * CONFIG.search_concurrency {
        let panicked = service.lookup(|_| panic!("told to panic")).await;
        assert_eq!(panicked, Err::<(), _>(Error::Internal));
    }
    assert_eq!(service.lookup(|_| 1).await, Ok(1));
    assert_eq!(running(&service), 0);
}

/// Chunks take turns: the second batch does not wait for all that the first one has to do.
#[tokio::test]
async fn batches_get_a_chunk_each_in_turn() {
    let (service, _) = service(Config {
        search_concurrency: 1,
        ..CONFIG
    });
    let (gate, wait) = mpsc::channel::<()>();
    let blocked = tokio::spawn({
        let service = service.clone();
        async move {
            let slot = service.batch_slot().await;
            service.run_chunk(slot, move |_| wait.recv().is_err()).await
        }
    });
    until("the slot is busy", || running(&service) == 1).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut batches = Vec::new();
    for batch in 0..3_u8 {
        let (batch_service, order) = (service.clone(), Arc::clone(&order));
        batches.push(tokio::spawn(async move {
            for _ in 0..3 {
                let order = Arc::clone(&order);
                let slot = batch_service.batch_slot().await;
                let chunk =
                    batch_service.run_chunk(slot, move |_| order.lock().unwrap().push(batch));
                chunk.await.unwrap();
            }
        }));
        until("it waits", || waiting(&service) == i64::from(batch) + 1).await;
    }
    drop(gate);
    blocked.await.unwrap().unwrap();
    for batch in batches {
        batch.await.unwrap();
    }
    let order = order.lock().unwrap();
    assert_eq!(order.len(), 9);
    assert_eq!(
        order[..3],
        [0, 1, 2],
        "each had waited before any came again"
    );
}

/// However many lines of batches wait, a single request waits for at most one of them.
#[tokio::test]
async fn batch_lines_do_not_fill_the_queue_of_single_requests() {
    let (service, engine) = service(Config {
        search_queue: 1,
        ..CONFIG
    });
    let mut boards = boards();
    let runs = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("one runs", || running(&service) == 1).await;
    let lines: Vec<_> = boards
        .by_ref()
        .take(20)
        .map(|board| {
            let service = service.clone();
            tokio::spawn(async move { service.solve_batch_line(request(board, Misplaced)).await })
        })
        .collect();
    until("a line waits", || waiting(&service) == 1).await;
    let single = solve(&service, request(boards.next().unwrap(), Misplaced));
    until("the single request waits", || waiting(&service) == 2).await;
    engine.release();
    assert!(runs.await.unwrap().is_ok());
    assert!(single.await.unwrap().is_ok());
    for line in lines {
        assert!(line.await.unwrap().is_ok());
    }
    assert_eq!(service.metrics().searches_rejected.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_batch_line_begins_with_its_search() {
    let (service, engine) = service(CONFIG);
    let mut boards = boards();
    let runs = solve(&service, request(boards.next().unwrap(), Misplaced));
    while running(&service) != 1 {
        yield_now().await;
    }
    let line = tokio::spawn({
        let (service, board) = (service.clone(), boards.next().unwrap());
        async move { service.solve_batch_line(request(board, Misplaced)).await }
    });
    while waiting(&service) != 1 {
        yield_now().await;
    }
    advance(Duration::from_secs(59)).await;
    assert!(!line.is_finished());
    runs.abort();
    while engine.searches() != 2 {
        yield_now().await;
    }
    advance(Duration::from_secs(59)).await;
    assert!(!line.is_finished(), "its search has run for 59 s of 60");
    engine.release();
    assert!(line.await.unwrap().is_ok());
}

/// Callers come, leave and run out of time at random; in the end nothing is left behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_stress_every_caller_is_answered_and_every_gauge_returns_to_0() {
    let service = Service::new(Config {
        search_concurrency: 3,
        search_queue: 4,
        cache_capacity: 5,
        ..CONFIG
    });
    service.prepare().await;
    let boards: Vec<Board> = boards().take(20).collect();
    let mut callers = Vec::new();
    for number in 0..4000_usize {
        let heuristic = [PatternDatabase, Misplaced][number % 2];
        let board = boards[number * 7 % boards.len()];
        let asked = Request {
            timeout: Duration::from_millis(1 + number as u64 % 50),
            explain: number.is_multiple_of(5),
            ..request(board, heuristic)
        };
        let caller = solve(&service, asked);
        if number.is_multiple_of(3) {
            caller.abort();
        }
        callers.push(caller);
        if number.is_multiple_of(50) {
            tokio::task::yield_now().await;
        }
    }
    let started = Instant::now();
    for caller in callers {
        match caller.await {
            Ok(Ok(_) | Err(Error::Overloaded | Error::TimedOut { .. })) => {}
            Ok(Err(error)) => panic!("{error:?}"),
            Err(error) => assert!(error.is_cancelled()),
        }
    }
    assert!(started.elapsed() < Duration::from_mins(1));
    until("all is quiet", || {
        (running(&service), waiting(&service)) == (0, 0)
    })
    .await;
    assert!(service.metrics().cache_entries.get() <= 5);
}
