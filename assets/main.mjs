// Puts the parts of the page together.
//
// The page runs as it is written in Chrome and Edge 111, Firefox 115 and Safari 16.4, and in what is newer: .browserslistrc.

import {
  addressOfPosition,
  currentAddress,
  onReturn,
  pushAddress,
  readAddress,
  showAddress,
} from './address.mjs';
import { get } from './api.mjs';
import { attempt } from './attempt.mjs';
import { BoardView } from './board.mjs';
import { letDraw, letPaste } from './boards.mjs';
import { Coach } from './coach.mjs';
import { showConsole } from './console.mjs';
import { byId, copy } from './dom.mjs';
import { Game, MOST_MOVES, turnBetween } from './game.mjs';
import { letDrag } from './gestures.mjs';
import { letCompare, showDistribution } from './learn.mjs';
import { Painter } from './paint.mjs';
import { Player } from './player.mjs';
import { CELLS, faults, LETTERS, VALUES } from './rules.mjs';

/** Five moves from being solved, in three ways. */
const FIRST_BOARD = '323321333112121131221232';

const asked = readAddress();
const isLegal = asked.board !== null && faults([...asked.board]).length === 0;
const hasMoves =
  asked.moves.length <= MOST_MOVES && [...asked.moves].every((letter) => LETTERS.includes(letter));
const game = new Game(isLegal ? asked.board : FIRST_BOARD, isLegal && hasMoves ? asked.moves : '');

const view = new BoardView(byId('stage'), turn);
const coach = new Coach(game, view);
const painter = new Painter(view, use);
const player = new Player(game);
const tab = document.forms.source.elements.tab;
const markDistance = showDistribution();

showConsole(game);
letCompare(game);
letDrag(view, () => !painter.isOpen, turn);
const draw = letDraw(use);
const paste = letPaste(use);

function turn(letters) {
  if (!painter.isOpen) game.turn(letters);
}

/** Goes on with another board, from which Back leads to the one before. */
function use(board, enter = pushAddress) {
  if (painter.isOpen) open('random');
  enter(addressOfPosition({ start: board, moves: '' }));
  game.go(board);
}

/** Goes back, or forward, to what was seen at an address. */
function revisit({ board, moves, paint }) {
  if (paint !== null) {
    open('paint', paint);
    return;
  }
  game.go(board, moves);
  if (painter.isOpen) open('random');
}

/** Shows the present position; where it is a turn away from the one before, the line moves there. */
function show(before) {
  const turned = before && turnBetween(before, game.position);
  if (turned) view.turn(game.board, turned);
  else view.show(game.board);
  byId('undo').disabled = !game.canUndo;
  byId('redo').disabled = !game.canRedo;
  showAddress(addressOfPosition(game.position));
}

/** Opens one of the ways to another board; while cells are set there is no board to play on. */
function open(name, draft = game.board) {
  tab.value = name;
  for (const panel of document.querySelectorAll('[data-tab]')) {
    panel.hidden = panel.dataset.tab !== name;
  }
  const isPainting = name === 'paint';
  for (const part of document.querySelectorAll('[data-needs-board]')) part.inert = isPainting;
  for (const handle of view.handles) handle.disabled = isPainting;
  if (isPainting) {
    player.pause();
    coach.rest();
    painter.open(draft);
  } else if (painter.isOpen) {
    painter.close();
    show();
    coach.look();
  }
}

/**
 * The letter of a key: what it types, so that Latin layouts other than QWERTY work as labelled, or
 * in other scripts, which lack these letters, the one at its place on QWERTY.
 */
function letterOf({ key, code }) {
  const isLatin = /^[\p{ASCII}\p{Script=Latin}]/u.test(key);
  return isLatin ? key.toUpperCase() : code.replace('Key', '');
}

function pressed(event) {
  const isTyping = event.target.matches?.('textarea, select, input:is([type=text], [type=number])');
  if (isTyping || painter.isOpen || event.defaultPrevented || event.altKey) return;
  const key = letterOf(event);
  if (event.ctrlKey || event.metaKey) {
    const isRedo = key === 'Y' || (key === 'Z' && event.shiftKey);
    if (isRedo) game.redo();
    else if (key === 'Z') game.undo();
    else return;
    event.preventDefault();
  } else if (LETTERS.includes(key)) {
    turn(key);
  }
}

/** Does what else the address asks for, and says what is wrong with it. */
function follow({ board, moves, paint, seed, distance }) {
  const replace = (board) => use(board, showAddress);
  const draft = paint ?? (isLegal ? null : board);
  if (draft !== null) {
    const isDrawable = draft.length === CELLS && [...draft].every((cell) => VALUES.includes(cell));
    if (isDrawable) {
      open('paint', draft);
    } else {
      open('paste');
      paste(draft, replace);
    }
  } else if (seed !== null) {
    const query = distance === null ? { seed } : { distance, seed };
    draw(query, replace);
  } else if (!hasMoves) {
    const path = `boards/${game.board}/replay/${encodeURIComponent(moves)}`;
    attempt('address', (signal) => get(path, signal));
  }
}

game.addEventListener('change', ({ detail }) => show(detail.before));
coach.addEventListener('rated', () => markDistance(coach.distance));
document.forms.source.addEventListener('change', () => open(tab.value));
addEventListener('keydown', pressed);
onReturn(revisit);
byId('undo').addEventListener('click', () => game.undo());
byId('redo').addEventListener('click', () => game.redo());
byId('share').addEventListener('click', ({ currentTarget }) =>
  copy(currentAddress(), currentTarget),
);

show();
open('random');
follow(asked);
if (!painter.isOpen) coach.look();
