// How often the pages of a site are visited: a field of the forms for settings.
import { h } from './page.js';

// asBefore says when a changed pace applies.
export const asBefore = 'A new pace applies from the next visit of each page, whose time stays unchanged. Capture visits a page now.';

// visitsPerChange returns how many visits are needed for each change, so that a share of the versions is captured.
function visitsPerChange(share) {
  let low = 1e-6,
    high = 200; // expected changes between two visits
  for (let i = 0; i < 60; i++) {
    const x = (low + high) / 2;
    (1 - Math.exp(-x)) / x > share ? (low = x) : (high = x);
  }
  return 1 / low;
}

// inWords returns what holds while a file does not set a value.
export const inWords = (usual) => 'without it: ' + usual.replace(/[[\]"]/g, '');

// pace returns the field of a key for a value such as "target 0.8 min 1h" or "every 6h". changed is called with each new
// value.
export function pace(value, common, changed, key) {
  if (value === 'by hand') return h('p', { id: common.id, tabindex: '-1' }, 'The file has entries of [[wait]] that this form does not show. Change them in the text.');
  const words = value.split(' ');
  const now = { kind: words[0], share: words[0] === 'target' ? Number(words[1]) : 0.8, min: words[3] || '', every: words[0] === 'every' ? words[1] : '1d' };
  const send = () => {
    const target = `target ${now.share}${now.min.trim() ? ' min ' + now.min.trim() : ''}`;
    changed({ '': '', target, every: 'every ' + now.every.trim() }[now.kind]);
    show();
  };
  const option = (kind, text) => h('option', { value: kind, selected: kind === now.kind }, text);
  const text = (key, label, placeholder) => {
    const input = h('input', { value: now[key], placeholder, size: '8', autocapitalize: 'none', oninput: (e) => ((now[key] = e.target.value), send()) });
    return h('label', {}, label, input);
  };
  const said = h('span', {});
  const missed = h('input', { type: 'range', min: '2', max: '60', value: String(Math.round(100 * (1 - now.share))), oninput: (e) => ((now.share = Number((1 - e.target.value / 100).toFixed(2))), send()) });
  const rows = {
    '': [],
    target: [h('label', {}, said, missed), text('min', 'but at most every', '5m')],
    every: [text('every', 'every', '6h')],
  };
  const more = h('div', { class: 'row' });
  const show = () => {
    said.textContent = `missing at most ${Math.round(100 * (1 - now.share))} % of versions: ${visitsPerChange(now.share).toFixed(1)} visits for each change`;
    if (more.dataset.kind !== now.kind) more.replaceChildren(...rows[now.kind]);
    more.dataset.kind = now.kind;
  };
  show();
  const kind = h('select', { ...common, oninput: null, onchange: (e) => ((now.kind = e.target.value), send()) }, option('', key === 'wait' ? 'as the main file says' : 'as all other pages'), option('target', 'as often as they change'), option('every', 'always after the same time'));
  return h('div', { class: 'pace' }, kind, more);
}
