// Elements in a few words.

const SVG = 'http://www.w3.org/2000/svg';

export const byId = (id) => document.getElementById(id);

/** An HTML element with attributes and children, which are elements or texts. */
export function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An SVG element with attributes and children. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** Attributes that are false or null are left out. */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

/** "1 move", "2 moves". */
export function counted(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Copies a text, and lets the button say so for a moment. */
export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard is only there on secure origins; this way is there on all.
    const field = html('textarea', { class: 'visually-hidden' }, text);
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
    button.focus();
  }
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = label;
  }, 1500);
}
