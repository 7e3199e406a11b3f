use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How an HTTP/2 connection begins (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream whose reads fail if it does not show in time which protocol it speaks.
///
/// Until then the connection waits for bytes without a limit of its own: a client that sends
/// nothing, or a lone `P`, would stay for ever.
pub(super) struct ProtocolDeadline<S> {
    stream: S,
    /// `None` once the protocol is known.
    deadline: Option<Pin<Box<Sleep>>>,
    /// How many bytes have come, all of them as in the preface.
    matched: usize,
}

impl<S> ProtocolDeadline<S> {
    pub(super) fn new(stream: S, timeout: Duration) -> Self {
        Self {
            stream,
            deadline: Some(Box::pin(sleep(timeout))),
            matched: 0,
        }
    }

    /// Looks at bytes that have just come.
    fn observe(&mut self, bytes: &[u8]) {
        let rest = &PREFACE[self.matched..];
        self.matched += bytes.len();
        let is_known = bytes.len() >= rest.len() || !rest.starts_with(bytes);
        if is_known {
            self.deadline = None;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ProtocolDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let filled = buffer.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if self.deadline.is_some() {
            self.observe(&buffer.filled()[filled..]);
        }
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ProtocolDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[rstest]
    #[case::nothing(b"", false)]
    #[case::a_lone_p(b"P", false)]
    #[case::half_a_preface(b"PRI * HTTP/2.0\r\n", false)]
    #[case::http_1(b"G", true)]
    #[case::post(b"PO", true)]
    #[case::http_2(PREFACE, true)]
    #[tokio::test(start_paused = true)]
    async fn a_stream_that_does_not_show_its_protocol_in_time_fails(
        #[case] sent: &[u8],
        #[case] is_known: bool,
        #[values(1, 100)] size: usize,
    ) {
        let (mut client, server) = duplex(100);
        let mut stream = ProtocolDeadline::new(server, Duration::from_secs(5));
        let mut received = vec![0; sent.len()];
        for (piece, into) in sent.chunks(size).zip(received.chunks_mut(size)) {
            client.write_all(piece).await.unwrap();
            stream.read_exact(into).await.unwrap();
        }
        assert_eq!(received, sent);
        let rest = tokio::time::timeout(Duration::from_mins(1), stream.read_u8()).await;
        match rest {
            Ok(result) => {
                assert_eq!(result.unwrap_err().kind(), io::ErrorKind::TimedOut);
                assert!(!is_known);
            }
            Err(_) => assert!(is_known, "it should have failed after 5 s"),
        }
    }
}
