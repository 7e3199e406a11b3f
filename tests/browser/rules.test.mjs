// The rules of the page, against the boards and answers that the other tests use too.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Game, MOST_MOVES, turnBetween } from '../../assets/game.mjs';
import { centreOf, faults, LETTERS, LINES, play, readBoards, shift } from '../../assets/rules.mjs';

const EASY = '111132323132231222312133';
const DATA = new URL('../data/', import.meta.url);

for (const name of ['public', 'by-distance', 'ties']) {
  test(`the moves of ${name}.out fill the centre as they say`, () => {
    const boards = readBoards(readFileSync(new URL(`${name}.in`, DATA), 'utf8'));
    const lines = readFileSync(new URL(`${name}.out`, DATA), 'utf8')
      .trim()
      .split('\n');
    assert.equal(lines.length, boards.length * 2);
    boards.forEach((cells, index) => {
      const board = cells.join('');
      assert.deepEqual(faults(cells), []);
      const [moves, centre] = lines.slice(index * 2);
      const letters = moves === 'No moves needed' ? '' : moves;
      assert.equal(centreOf(play(board, letters)), centre, board);
      assert.equal(centreOf(board) === null, letters !== '', board);
    });
  });
}

test('each letter is undone by the other one of its line', () => {
  for (const { first, last } of LINES) {
    assert.notEqual(play(EASY, first), EASY);
    assert.equal(play(EASY, first + last), EASY);
    assert.equal(play(EASY, last.repeat(7)), EASY);
  }
  assert.deepEqual(LINES.flatMap(({ first, last }) => [first, last]).sort(), LETTERS);
});

test('a line that is shifted by several cells is turned as often', () => {
  for (const line of LINES) {
    assert.equal(shift(EASY, line, 3), play(EASY, line.last.repeat(3)));
    assert.equal(shift(EASY, line, -2), play(EASY, line.first.repeat(2)));
  }
});

test('what is illegal is told with every reason', () => {
  const told = (text) => faults([...text]);
  assert.deepEqual(told(EASY), []);
  assert.deepEqual(told('11113232313223122231213x'), ["cell 23 is 'x', not 1, 2 or 3"]);
  assert.deepEqual(told('111132323132231222312131'), [
    'value 1 stands on 9 cells, not on 8',
    'value 3 stands on 7 cells, not on 8',
  ]);
  assert.deepEqual(told('1111111114'), [
    'a board has 24 cells, here are 10',
    'cell 9 is 4, not 1, 2 or 3',
    'value 1 stands on 9 cells, not on 8',
  ]);
});

test('boards are read from digits, from the judge’s text and from JSON', () => {
  const board = [...EASY];
  assert.deepEqual(readBoards(EASY), [board]);
  assert.deepEqual(readBoards('1111 3232 3132, 2312 2231 2133'), [board]);
  assert.deepEqual(readBoards(`\n ${board.join(' ')}\r\n${board.join('\n')} 0 9`), [board, board]);
  assert.deepEqual(readBoards(`[${board.join(', ')}]`), [board]);
  assert.deepEqual(readBoards(`"${EASY}"\n"${EASY}"`), [board, board]);
  assert.deepEqual(readBoards('1 2 3'), [['1', '2', '3']]);
  assert.deepEqual(readBoards(' '), []);
});

test('undo and redo go through all positions, and a new move forgets those undone', () => {
  const game = new Game(EASY, 'A');
  game.turn('CC');
  game.undo();
  assert.deepEqual(game.position, { start: EASY, moves: 'AC' });
  game.undo();
  game.undo();
  assert.ok(!game.canUndo && game.canRedo);
  game.redo();
  game.turn('B');
  assert.deepEqual(game.position, { start: EASY, moves: 'AB' });
  assert.ok(!game.canRedo);
});

test('a position beside the present one is gone back to, not added', () => {
  const game = new Game(EASY, 'AC');
  game.go(EASY, 'A');
  assert.ok(game.canRedo);
  game.go(EASY, 'AC');
  assert.ok(!game.canRedo);
});

test('a player who never stops turning gets a new start in time', () => {
  const game = new Game(EASY);
  game.turn('A'.repeat(7 * 143));
  assert.equal(game.board, EASY);
  assert.ok(game.position.moves.length < MOST_MOVES);
});

test('the turn between two positions is known if it is one', () => {
  const at = (moves) => ({ start: EASY, moves });
  const [left, , upper] = LINES;
  assert.deepEqual(turnBetween(at('B'), at('BF')), { line: left, steps: 1 });
  assert.deepEqual(turnBetween(at('BF'), at('B')), { line: left, steps: -1 });
  assert.deepEqual(turnBetween(at(''), at('CCC')), { line: upper, steps: 3 });
  assert.equal(turnBetween(at(''), at('AC')), null);
  assert.equal(turnBetween(at('A'), at('B')), null);
  assert.equal(turnBetween(at('A'), at('A')), null);
  assert.equal(turnBetween(at(''), { start: play(EASY, 'A'), moves: 'A' }), null);
});
