// The address bar holds what is seen, so that a link reproduces it.

/** What the address asks for. */
export function readAddress() {
  const query = new URLSearchParams(location.search);
  return {
    board: query.get('board'),
    moves: (query.get('moves') ?? '').toUpperCase(),
    /** A board in the making, perhaps not a legal one. */
    paint: query.get('paint'),
    /** A draw to repeat. */
    seed: query.get('seed'),
    distance: query.get('distance'),
  };
}

/** The address of the page with this query. */
export function addressOf(query) {
  return `${location.origin}${location.pathname}?${new URLSearchParams(query)}`;
}

/** A position's address. */
export function addressOfPosition({ start, moves }) {
  return addressOf(moves === '' ? { board: start } : { board: start, moves });
}

/** Safari takes no more than 100 changes of the address in 30 s. */
const INTERVAL_MS = 400;

/** The address of what is seen, and the one in the bar, which may be late. */
let current;
let written;
/** Runs for a while after each change; the next one waits for its end. */
let timer = null;

/** The address of what is seen. */
export function currentAddress() {
  return current;
}

/** Puts an address into the bar in place of the one before. */
export function showAddress(address) {
  current = address;
  if (timer === null) write();
}

/** Puts an address into the bar, from which Back leads to the one before. */
export function pushAddress(address) {
  flush();
  if (address === current) return;
  history.pushState(null, '', address);
  current = address;
  written = address;
}

/** Calls back with what the address asks for when Back or Forward has led to another one. */
export function onReturn(follow) {
  addEventListener('popstate', () => {
    const address = location.origin + location.pathname + location.search;
    // Only the fragment is another: a link within the page.
    if (address === written) return;
    current = address;
    written = address;
    follow(readAddress());
  });
}

function write() {
  timer = null;
  if (current === written) return;
  history.replaceState(null, '', current + location.hash);
  written = current;
  timer = setTimeout(write, INTERVAL_MS);
}

function flush() {
  clearTimeout(timer);
  write();
}

// Each entry of the history keeps the address of what was seen last.
addEventListener('pagehide', flush);
addEventListener('click', ({ target }) => target.closest('a') && flush(), true);
