// What may fail is attempted here: failures are told in words, and can be tried again.

import { NoConnection, Problem } from './api.mjs';
import { byId, html } from './dom.mjs';

/** By name: what is under way, and what has failed. */
const running = new Map();
const failed = new Map();

/**
 * Runs an action, which is given a signal, in place of an earlier one of the same name. A failure is
 * shown until an action of its name succeeds or is abandoned.
 */
export async function attempt(name, action) {
  running.get(name)?.abort();
  const controller = new AbortController();
  running.set(name, controller);
  try {
    await action(controller.signal);
    if (controller.signal.aborted) return;
    failed.delete(name);
  } catch (error) {
    if (controller.signal.aborted) return;
    if (!(error instanceof NoConnection || error instanceof Problem)) console.error(error);
    failed.set(name, { action, error });
  }
  show();
}

/** Gives up what is under way under this name, and forgets that it failed. */
export function abandon(name) {
  running.get(name)?.abort();
  failed.delete(name);
  show();
}

function show() {
  const notice = byId('notice');
  const [failure] = failed.values();
  notice.hidden = failure === undefined;
  notice.replaceChildren();
  if (failure === undefined) return;

  const retry = html('button', { type: 'button' }, 'Try again');
  retry.addEventListener('click', () => {
    for (const [name, { action }] of [...failed]) attempt(name, action);
  });
  const dismiss = html('button', { type: 'button' }, 'Dismiss');
  dismiss.addEventListener('click', () => {
    failed.clear();
    show();
  });
  notice.append(
    words(failure.error),
    html('div', { class: 'actions' }, ...(canPass(failure.error) ? [retry] : []), dismiss),
  );
}

/** Whether it is worth trying again: what the caller did wrong stays wrong. */
function canPass({ status }) {
  return status === undefined || status >= 500;
}

function words(error) {
  if (error instanceof NoConnection) {
    return html(
      'p',
      {},
      html('strong', {}, error.message),
      ' Your board is still here, and lines still turn. Try again when the connection is back.',
    );
  }
  const paragraph = html(
    'p',
    {},
    html('strong', {}, `${error.title ?? 'This page has a fault'}: `),
  );
  paragraph.append(`${error.message}.`);
  if (error.code) {
    const page = html('a', { href: `problems/${error.code}` }, 'What that means');
    paragraph.append(' ', page, ` (request ${error.instance}).`);
  }
  return paragraph;
}
