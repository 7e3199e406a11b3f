use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::activity::{ConnectionActivity, RequestGuard};

/// How long a request may go on without an answer after the client has shut down its sending side.
const HALF_CLOSE_GRACE: Duration = Duration::from_millis(250);
/// How long a connection that is being closed discards input: until the client is silent for a
/// while, or this long in all.
const LINGER_SILENCE: Duration = Duration::from_secs(5);
const LINGER_TIME: Duration = Duration::from_secs(30);
/// How much input it discards.
const LINGER_BYTES: usize = 64 * 1024 * 1024;
const LINGER_BUFFER: usize = 8 * 1024;

/// The stream of a client, between hyper and the socket.
///
/// Writes fail when the client has not taken a byte for `timeout`. When the server closes the stream
/// while the client still sends, input is read and discarded for a while: a socket that is closed
/// with unread input resets the connection, and the client may lose the answer (RFC 9112, section
/// 9.6).
///
/// A client may shut down its sending side after a complete request, and wait for the answer. hyper
/// would take it for one that is gone, and so does not learn of the end of the input at once.
pub(super) struct ClientStream<S> {
    stream: S,
    activity: Arc<ConnectionActivity>,
    timeout: Duration,
    /// Set while a write waits for the client. Until then the connection is not idle.
    deadline: Option<(Pin<Box<Sleep>>, RequestGuard)>,
    /// Set at the end of the client's input.
    half_closed: Option<Pin<Box<Sleep>>>,
    linger: Option<Linger>,
}

/// A stream that is closed for writing.
struct Linger {
    started: Instant,
    silence: Pin<Box<Sleep>>,
    bytes: usize,
    /// It counts as busy meanwhile.
    _hold: RequestGuard,
}

impl<S> ClientStream<S> {
    pub(super) fn new(stream: S, activity: Arc<ConnectionActivity>, timeout: Duration) -> Self {
        Self {
            stream,
            activity,
            timeout,
            deadline: None,
            half_closed: None,
            linger: None,
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

impl<S: AsyncRead + Unpin> ClientStream<S> {
    /// Reports the end of the input when no answer is owed: every request was answered, or the grace
    /// period is over, and the answer has not begun or its request is incomplete.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let grace = self
            .half_closed
            .get_or_insert_with(|| Box::pin(sleep(HALF_CLOSE_GRACE)));
        while self.activity.poll_idle(cx).is_pending() {
            ready!(grace.as_mut().poll(cx));
            if !self.activity.is_answering() {
                break;
            }
            grace.as_mut().reset(Instant::now() + HALF_CLOSE_GRACE);
        }
        Poll::Ready(())
    }

    /// Discards input until the client closes the connection, or a limit is reached.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let linger = self.linger.get_or_insert_with(|| Linger {
            started: Instant::now(),
            silence: Box::pin(sleep(LINGER_SILENCE)),
            bytes: 0,
            _hold: self.activity.begin(),
        });
        let mut memory = [0; LINGER_BUFFER];
        while linger.bytes < LINGER_BYTES && linger.started.elapsed() < LINGER_TIME {
            let mut buffer = ReadBuf::new(&mut memory);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    linger.bytes += buffer.filled().len();
                    let silent_at = Instant::now() + LINGER_SILENCE;
                    linger.silence.as_mut().reset(silent_at);
                }
                Poll::Ready(_) => break,
                Poll::Pending => return linger.silence.as_mut().poll(cx),
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.activity.set_unread(true);
            return Poll::Ready(Ok(()));
        }
        self.poll_end(cx).map(Ok)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
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
        if self.linger.is_none() {
            ready!(self.watch_write(cx, AsyncWrite::poll_shutdown))?;
            if !self.activity.has_unread() {
                return Poll::Ready(Ok(()));
            }
        }
        self.poll_linger(cx).map(Ok)
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
        let activity = ConnectionActivity::new(CancellationToken::new());
        let mut stream = ClientStream::new(server, Arc::clone(&activity), TIMEOUT);
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
            "a client that takes an answer is not idle"
        );
        drop(reading.await);
    }
}
