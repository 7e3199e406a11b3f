use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

use super::activity::{ConnectionActivity, RequestGuard, UntakenAnswer};

/// The body of a request. The input of its connection counts as unread until it is complete.
pub(super) struct RequestBody {
    body: Incoming,
    activity: Arc<ConnectionActivity>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, activity: &Arc<ConnectionActivity>) -> Self {
        let body = Self {
            body,
            activity: Arc::clone(activity),
        };
        body.activity.set_wants_input(false);
        body.note_end();
        body
    }

    fn note_end(&self) {
        if self.body.is_end_stream() {
            self.activity.set_unread(false);
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body.frame()).poll(cx);
        self.activity.set_wants_input(frame.is_pending());
        if matches!(frame, Poll::Ready(None)) {
            self.activity.set_unread(false);
        } else {
            self.note_end();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer. Its request is in progress until it was handed over.
///
/// Over HTTP/2 a body is polled only when the client gives room for it. So the client is late when a
/// body that has data, or may have, is not polled.
pub(super) struct GuardedBody<B> {
    body: B,
    _request: RequestGuard,
    untaken: Option<UntakenAnswer>,
}

impl<B> GuardedBody<B> {
    /// Guards the body of an answer; `untaken` measures how long the client does not take it.
    pub(super) fn new(body: B, request: RequestGuard, untaken: Option<UntakenAnswer>) -> Self {
        Self {
            body,
            _request: request,
            untaken,
        }
    }
}

impl<B: Body + Unpin> Body for GuardedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = Pin::new(&mut self.body.frame()).poll(cx);
        if let Some(untaken) = &self.untaken {
            // Where there is no frame, the server is late.
            untaken.set(matches!(frame, Poll::Ready(Some(_))));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
