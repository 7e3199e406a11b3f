// Plots, drawn at the size that they are shown in, so that their letters are as large as all others.

import { svg } from './dom.mjs';

const HEIGHT = 300;
const MARGIN = { top: 26, right: 18, bottom: 46, left: 64 };

/** A bar of this share of its cell, or of as little as can be seen. */
export function plotBar(share) {
  const width = `${Math.max(0.5, share * 100)}%`;
  return svg(
    'svg',
    { class: 'bar', 'aria-hidden': 'true' },
    svg('rect', { width, height: '100%' }),
  );
}

/** Nodes against bound, one line a search, on a scale of powers of ten. */
export function plotSearches(place, searches) {
  const width = Math.max(280, place.clientWidth);
  const iterations = searches.flatMap((search) => search.iterations);
  const bounds = iterations.map(({ bound }) => bound);
  const [least, greatest] = [Math.min(...bounds), Math.max(...bounds)];
  const most = Math.max(...iterations.map(({ nodes }) => nodes));
  const decades = Math.max(1, Math.ceil(Math.log10(most)));
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const x = (bound) =>
    least === greatest
      ? (MARGIN.left + right) / 2
      : MARGIN.left + ((bound - least) / (greatest - least)) * (right - MARGIN.left);
  const y = (nodes) => bottom - (Math.log10(nodes) / decades) * (bottom - MARGIN.top);

  const grid = Array.from({ length: decades + 1 }, (_, power) => {
    const at = y(10 ** power);
    return svg(
      'g',
      {},
      svg('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: at, y2: at }),
      svg(
        'text',
        { class: 'tick', x: MARGIN.left - 10, y: at + 4, 'text-anchor': 'end' },
        power10(power),
      ),
    );
  });
  const ticks = Array.from({ length: greatest - least + 1 }, (_, index) =>
    svg(
      'text',
      { class: 'tick', x: x(least + index), y: bottom + 20, 'text-anchor': 'middle' },
      String(least + index),
    ),
  );
  const titles = [
    svg('text', { class: 'title', x: 0, y: 12 }, 'boards opened'),
    svg(
      'text',
      { class: 'title', x: right, y: HEIGHT - 6, 'text-anchor': 'end' },
      'bound, in moves',
    ),
  ];
  const lines = searches.map((search, index) => plotLine(search, index, x, y));
  place.replaceChildren(
    svg(
      'svg',
      {
        viewBox: `0 0 ${width} ${HEIGHT}`,
        role: 'img',
        'aria-label':
          'Boards opened at each bound by both searches; the numbers are in the table below.',
      },
      ...grid,
      ...ticks,
      ...titles,
      ...lines,
    ),
  );
}

function plotLine({ heuristic, iterations }, index, x, y) {
  const points = iterations.map(({ bound, nodes }) => [x(bound), y(nodes)]);
  const markers = points.map(([cx, cy]) =>
    // The two searches differ by their marks as well as by colour.
    index === 0
      ? svg('circle', { cx, cy, r: 4.5 })
      : svg('rect', { x: cx - 5, y: cy - 5, width: 10, height: 10, rx: 2 }),
  );
  return svg(
    'g',
    { class: `series series-${heuristic}` },
    svg('polyline', { points: points.join(' ') }),
    ...markers,
  );
}

/** Numbers of four digits or less in full. */
function power10(power) {
  const digits = [...String(power)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]);
  return power < 4 ? (10 ** power).toLocaleString('en') : `10${digits.join('')}`;
}
