// Keeps what a user did with a page while its content is replaced: opened parts, scrolled tables, and the focus.
import { keyOf } from './page.js';

const nameOf = (e) => keyOf(e.getAttribute('aria-label') || e.textContent);

// placeOf names an opened part by its summary and the heading above it.
const placeOf = (details) =>
  nameOf(details.closest('section')?.querySelector('h2, h3') || document.createElement('p')) + ' ' + nameOf(details.querySelector('summary'));

// remember returns a function that restores what is open, scrolled and focused now.
export function remember(view) {
  const open = new Set([...view.querySelectorAll('details[open]')].map(placeOf));
  const scrolled = new Map([...view.querySelectorAll('.scroll')].map((e) => [nameOf(e), [e.scrollLeft, e.scrollTop]]));
  const focus = document.activeElement;
  const inside = focus && focus !== view && view.contains(focus);
  const same = (e) => e.tagName === focus.tagName && nameOf(e) === nameOf(focus) && e.getAttribute('href') === focus.getAttribute('href');
  const which = inside ? [...view.querySelectorAll(focus.tagName)].filter(same).indexOf(focus) : -1;
  return () => {
    for (const details of view.querySelectorAll('details')) if (open.has(placeOf(details))) details.open = true;
    for (const e of view.querySelectorAll('.scroll')) [e.scrollLeft, e.scrollTop] = scrolled.get(nameOf(e)) || [0, 0];
    if (!inside) return;
    const next = [...view.querySelectorAll(focus.tagName)].filter(same);
    (next[which] || next[0])?.focus({ preventScroll: true });
  };
}
