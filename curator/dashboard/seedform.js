// Title, labels, owner and target of each seed of a host, as a list of seeds has them: a field of the form for settings.
import { h } from './page.js';

const columns = [
  ['title', 'Title', ''],
  ['label', 'Labels', 'newspapers, daily'],
  ['collection', 'Collections', ''],
  ['owner', 'Looked after by', ''],
  ['target', 'Share of its versions to capture', 'as for the others, or 90 %'],
  ['until', 'until the day', 'without end, or 2026-12-31'],
  ['note', 'Note', ''],
];

const lists = ['label', 'collection'];
const shown = (row, key) => (lists.includes(key) ? row[key].replaceAll('|', ', ') : key === 'target' && Number(row[key]) ? `${+(100 * row[key]).toFixed(2)} %` : row[key]);

// seedForm returns the field for the seeds in a JSON text. changed is called with each new text.
export function seedForm(value, common, changed) {
  const rows = value ? JSON.parse(value) : [];
  if (!rows.length) return h('p', { id: common.id, tabindex: '-1' }, value ? 'No front page or section is listed yet. After a check, each has its fields here.' : 'There are too many for a form. Export them as a list, and import it again.');
  const one = (row) => {
    const said = () => columns.map(([key]) => row[key] && shown(row, key)).filter(Boolean).join(' · ');
    const about = h('span', { class: 'more', dir: 'auto' }, said());
    const cell = ([key, label, placeholder]) =>
      h(
        'label',
        {},
        label,
        h('input', {
          value: shown(row, key),
          placeholder,
          dir: 'auto',
          autocapitalize: 'none',
          oninput(e) {
            row[key] = e.target.value;
            about.textContent = said();
            changed(JSON.stringify(rows));
          },
        }),
      );
    return h('details', { class: 'seed', open: rows.length === 1 }, h('summary', {}, h('bdi', {}, row.uri), ' ', about), h('div', { class: 'fields' }, columns.map(cell)));
  };
  return h('div', { id: common.id, tabindex: '-1', role: 'group', 'aria-label': common.name }, rows.map(one));
}
