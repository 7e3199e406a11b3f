// The public API, and its errors in words.

/** Longer than the server lets a search run. */
const PATIENCE_MS = 20_000;

/** The server answered, with a problem (RFC 9457). */
export class Problem extends Error {
  constructor(problem) {
    super(problem.detail);
    Object.assign(this, problem);
  }
}

/** The server did not answer. */
export class NoConnection extends Error {}

async function call(path, signal, options) {
  signal.throwIfAborted();
  const request = new AbortController();
  const abort = () => request.abort();
  const timer = setTimeout(abort, PATIENCE_MS);
  signal.addEventListener('abort', abort);
  try {
    const response = await fetch(path, { ...options, signal: request.signal });
    return { response, text: await response.text() };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new NoConnection(
      request.signal.aborted ? 'The server does not answer.' : 'The server cannot be reached.',
    );
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function read({ response, text }) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    // Such as the page of a proxy.
    body = null;
  }
  if (response.ok && body !== null) return body;
  if (body?.detail) throw new Problem(body);
  throw new Problem({
    title: 'That was no answer of this service',
    detail: `something answered with status ${response.status}, and not as the service would`,
    status: response.status,
  });
}

/** The answer to a GET. Paths are relative to the page, which may be below a prefix. */
export async function get(path, signal) {
  return read(await call(path, signal));
}

/** The answer to POST /solve, and how it came. */
export async function solve(request, signal) {
  const answer = await call('solve', signal, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  return { body: read(answer), text: answer.text, headers: answer.response.headers };
}
