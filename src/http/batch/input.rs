use std::pin::pin;

use axum::body::{Body, Bytes};
use futures_util::StreamExt;
use futures_util::future::poll_immediate;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The input of a batch. A task of its own reads it, one frame ahead, so a client that disconnects
/// is noticed while a search runs.
pub(super) struct Input {
    arrivals: mpsc::Receiver<Arrival>,
    /// Cancelled when the input breaks off.
    pub(super) is_broken: CancellationToken,
}

/// An event on the input stream.
pub(super) enum Arrival {
    Bytes(Bytes),
    /// The input is complete.
    End,
    /// The input broke off before its end.
    Break,
}

impl Input {
    /// Starts to read a body. Returns when the body was polled for the first time: a client that
    /// sent `Expect: 100-continue` must get its 100 before the head of the response.
    pub(super) async fn start(body: Body) -> Self {
        let (sender, arrivals) = mpsc::channel(1);
        let (opened, is_open) = oneshot::channel();
        let is_broken = CancellationToken::new();
        tokio::spawn(read(body, sender, opened, is_broken.clone()));
        // It fails only when the runtime shuts down.
        let _ = is_open.await;
        Self {
            arrivals,
            is_broken,
        }
    }

    pub(super) async fn next(&mut self) -> Arrival {
        // The task ends without a last event only if it panics.
        self.arrivals.recv().await.unwrap_or(Arrival::Break)
    }
}

async fn read(
    body: Body,
    arrivals: mpsc::Sender<Arrival>,
    opened: oneshot::Sender<()>,
    is_broken: CancellationToken,
) {
    let mut data = body.into_data_stream();
    let mut opened = Some(opened);
    // Fails when the batch has ended.
    while let Ok(permit) = arrivals.reserve().await {
        let mut next = pin!(data.next());
        let mut item = poll_immediate(&mut next).await;
        if let Some(opened) = opened.take() {
            // The handler may be gone.
            let _ = opened.send(());
        }
        if item.is_none() {
            item = tokio::select! {
                item = next => Some(item),
                () = arrivals.closed() => None,
            };
        }
        match item {
            Some(Some(Ok(bytes))) => permit.send(Arrival::Bytes(bytes)),
            Some(Some(Err(_))) => {
                is_broken.cancel();
                return permit.send(Arrival::Break);
            }
            Some(None) => return permit.send(Arrival::End),
            None => return,
        }
    }
}
