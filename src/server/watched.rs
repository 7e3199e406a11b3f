use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::activity::{Activity, Busy};

/// A stream whose writes fail when the client has not taken a byte for `timeout`.
pub(super) struct Watched<S> {
    stream: S,
    activity: Arc<Activity>,
    timeout: Duration,
    /// While a write waits for the client. Until then the connection is not idle.
    deadline: Option<(Pin<Box<Sleep>>, Busy)>,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>, timeout: Duration) -> Self {
        Self {
            stream,
            activity,
            timeout,
            deadline: None,
        }
    }

    /// Passes the result of a write on, unless it has waited for too long.
    fn watch_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>>
    where
        S: Unpin,
    {
        if let Poll::Ready(result) = write(Pin::new(&mut self.stream), cx) {
            self.deadline = None;
            return Poll::Ready(result);
        }
        let (deadline, _) = self
            .deadline
            .get_or_insert_with(|| (Box::pin(sleep(self.timeout)), self.activity.begin()));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.watch_write(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.watch_write(cx, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.watch_write(cx, AsyncWrite::poll_shutdown)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.watch_write(cx, |stream, cx| stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// The body of an answer. Its request is under way until it has been sent.
pub(super) struct BusyBody<B> {
    body: B,
    _busy: Busy,
}

impl<B> BusyBody<B> {
    pub(super) fn new(body: B, busy: Busy) -> Self {
        Self { body, _busy: busy }
    }
}

impl<B: Body + Unpin> Body for BusyBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body.frame()).poll(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    const TIMEOUT: Duration = Duration::from_secs(30);
    /// Of a client that is slow, but not too slow.
    const PAUSE: Duration = Duration::from_secs(29);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_dropped_and_a_slow_one_is_not() {
        let (mut client, server) = duplex(100);
        let activity = Activity::new(CancellationToken::new());
        let mut stream = Watched::new(server, Arc::clone(&activity), TIMEOUT);
        let reading = tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(PAUSE).await;
                client.read_exact(&mut [0; 100]).await.unwrap();
            }
            client
        });
        let started = Instant::now();
        let error = stream.write_all(&[0; 10_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() > 5 * PAUSE);
        assert!(
            activity.idle_since().is_none(),
            "whoever takes an answer is not idle"
        );
        drop(reading.await);
    }
}
