use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::activity::{Activity, Busy};

/// A stream that fails when its client keeps it without use.
///
/// - Reads fail when no request has been under way for `header_timeout`. This covers a client that
///   sends nothing, or a lone `P` that might become HTTP/2, or a header byte by byte; one that
///   has been answered and asks nothing more; and an HTTP/2 client without a request.
/// - Writes fail when the client has not taken a byte for `write_timeout`.
pub(super) struct Watched<S> {
    stream: S,
    activity: Arc<Activity>,
    header_timeout: Duration,
    write_timeout: Duration,
    read_deadline: Pin<Box<Sleep>>,
    /// While a write waits for the client.
    write_deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    pub(super) fn new(
        stream: S,
        activity: Arc<Activity>,
        header_timeout: Duration,
        write_timeout: Duration,
    ) -> Self {
        Self {
            stream,
            activity,
            header_timeout,
            write_timeout,
            read_deadline: Box::pin(sleep_until(Instant::now() + header_timeout)),
            write_deadline: None,
        }
    }

    /// Whether the connection has been idle for too long; wakes the task when it may have been.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.read_deadline.as_mut().poll(cx));
            // It is not moved with every request, but looked at when it is over.
            let now = Instant::now();
            let deadline = self.activity.idle_since().unwrap_or(now) + self.header_timeout;
            if deadline <= now {
                return Poll::Ready(());
            }
            self.read_deadline.as_mut().reset(deadline);
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
            self.write_deadline = None;
            return Poll::Ready(result);
        }
        let timeout = self.write_timeout;
        let deadline = self
            .write_deadline
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + timeout)));
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
        // Whoever sends a byte now and then comes here, too, between them.
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_pending() && self.poll_idle(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
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
    use rstest::rstest;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio_util::sync::CancellationToken;

    const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
    const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
    /// Of a client that is slow, but not too slow.
    const PAUSE: Duration = Duration::from_secs(29);

    fn watched() -> (DuplexStream, Watched<DuplexStream>, Arc<Activity>) {
        let (client, server) = duplex(100);
        let activity = Activity::new(CancellationToken::new());
        let stream = Watched::new(server, Arc::clone(&activity), HEADER_TIMEOUT, WRITE_TIMEOUT);
        (client, stream, activity)
    }

    #[rstest]
    #[case::nothing(b"")]
    #[case::a_lone_p(b"P")]
    #[case::half_a_header(b"GET / HT")]
    #[tokio::test(start_paused = true)]
    async fn a_client_without_a_request_is_dropped_in_time(#[case] sent: &[u8]) {
        let (mut client, mut stream, _activity) = watched();
        let started = Instant::now();
        client.write_all(sent).await.unwrap();
        stream.read_exact(&mut vec![0; sent.len()]).await.unwrap();
        let error = stream.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() < HEADER_TIMEOUT + Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_with_a_request_has_time_and_then_as_much_as_a_new_one() {
        let (_client, mut stream, activity) = watched();
        let busy = activity.begin();
        let waiting = tokio::time::timeout(Duration::from_mins(1), stream.read_u8()).await;
        assert!(waiting.is_err(), "it waits while a request is under way");
        drop(busy);
        let started = Instant::now();
        assert!(stream.read_u8().await.is_err());
        assert!(started.elapsed() + Duration::from_millis(1) >= HEADER_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_dropped_and_a_slow_one_is_not() {
        let (mut client, mut stream, _activity) = watched();
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
        drop(reading.await);
    }
}
