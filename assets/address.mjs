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

/** Puts an address into the bar, without a step of the browser's own history for each turn. */
export function showAddress(address) {
  history.replaceState(null, '', address + location.hash);
}
