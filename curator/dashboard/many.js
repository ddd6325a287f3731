// Changes settings in several host files at once: choose the files, say what changes, see the effect, save, undo.
import { h, ask, committed, count, plural, table, notice, hostLink, button, may, needsRole } from './page.js';
import { onTheCrawl } from './plan.js';
import { asBefore, inWords, pace } from './pace.js';

const chosen = new Set(); // names of files
const most = 500; // rows of the table
let wanted = [{ key: '', how: 'set', value: '' }];
let plan = null;
let result = null;

const groups = (a) => [...(a.labels || []), ...(a.collections || []), ...(a.owners || [])].join(', ') || '–';

// choose shows host files with boxes to choose them.
export function choose(files, caption) {
  const bar = h('div', { class: 'row chosen', role: 'status' });
  const boxes = new Map();
  const box = (f) => {
    const input = h('input', { type: 'checkbox', 'aria-label': 'Choose ' + f.name, onchange: (e) => set([f], e.target.checked) });
    input.checked = chosen.has(f.name);
    boxes.set(f.name, input);
    return input;
  };
  const set = (some, on) => {
    for (const f of some) {
      on ? chosen.add(f.name) : chosen.delete(f.name);
      if (boxes.has(f.name)) boxes.get(f.name).checked = on;
    }
    plan = result = null;
    show();
  };
  const show = () =>
    bar.replaceChildren(
      h('button', { type: 'button', onclick: () => set(files, true) }, `Choose all ${count(files.length)}`),
      ...(chosen.size
        ? [
            h('button', { type: 'button', onclick: () => set([...chosen].map((name) => ({ name })), false) }, 'Choose none'),
            h('a', { class: 'button', href: '#/many' }, `Change settings of ${plural(chosen.size, 'file')} …`),
          ]
        : []),
    );
  const rows = table(
    caption + (files.length > most ? `; the first ${most} are shown` : ''),
    [
      ['', box, 'left'],
      ['file', (f) => h('a', { href: '#/edit/' + encodeURIComponent(f.name) }, f.name), 'wide'],
      ['site', (f) => (f.host ? hostLink(f.host) : 'the file has faults, or is not in force yet'), 'left'],
      ['title', (f) => h('span', { dir: 'auto' }, f.about.title || '–'), 'wide'],
      ['labels, collections, owner', (f) => groups(f.about), 'left'],
    ],
    files.slice(0, most),
    'There is no host file.',
  );
  if (!files.length) return rows;
  show();
  return [rows, bar];
}

// manyPage shows the files that are chosen, the settings to change, and what the change would do.
export async function manyPage(again) {
  if (!may('curate')) return needsRole('Change several host files', 'curate');
  const { fields } = await ask('edit/files');
  const names = [...chosen].sort();
  if (!names.length)
    return [h('h1', {}, 'Change several host files'), result, h('p', {}, 'No file is chosen. ', h('a', { href: '#/edit' }, 'Choose host files'))];
  const stale = () => {
    plan = result = null;
    outcome.replaceChildren();
  };
  const outcome = h('div', { role: 'status', id: 'result', tabindex: '-1' }, result, plan ? effect(again) : null);
  return [
    h('h1', {}, `Change ${plural(names.length, 'host file')}`),
    h('p', { class: 'long' }, names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${count(names.length - 5)} more` : ''), '. ', h('a', { href: '#/edit' }, 'Choose others')),
    h(
      'form',
      {
        onsubmit(e) {
          e.preventDefault();
          check(again);
        },
      },
      wanted.map((w, i) => setting(w, i, fields, stale, again)),
      h(
        'div',
        { class: 'row' },
        h('button', {}, 'Check'),
        button('Another setting', async () => wanted.push({ key: '', how: 'set', value: '' }), again),
        wanted.length > 1 ? button('One setting less', async () => wanted.pop(), again) : null,
      ),
    ),
    outcome,
  ];
}

// setting shows the fields of one change.
function setting(w, i, fields, stale, again) {
  const f = fields.find((x) => x.key === w.key);
  const list = f?.kind === 'lines' && f.key !== 'note';
  const option = (value, text, now) => h('option', { value, selected: value === now }, text);
  const changed = (key) => (e) => {
    w[key] = e.target.value;
    stale();
  };
  const input = () => {
    const common = { name: 'value-' + i, oninput: changed('value'), dir: 'auto', autocapitalize: 'none', spellcheck: 'false' };
    if (f?.kind === 'pace')
      return pace(w.value, { name: 'value-' + i, 'aria-label': f.label }, (value) => {
        w.value = value;
        stale();
      }, f.key);
    if (f?.kind === 'choice') return h('select', common, option('', 'not set', w.value), f.choices.map((c) => option(c, c, w.value)));
    if (f?.kind !== 'lines') return h('input', { ...common, value: w.value, placeholder: f?.default ? inWords(f.default) : '' });
    const area = h('textarea', { ...common, rows: '2' });
    area.value = w.value;
    return area;
  };
  const chooseKey = async (e) => {
    Object.assign(w, { key: e.target.value, how: 'set', value: '' });
    const next = fields.find((x) => x.key === w.key);
    if (next?.kind === 'lines' && next.key !== 'note') w.how = 'add';
    stale();
    e.target.blur();
    await again();
    document.querySelector(`[name=value-${i}]`)?.focus();
  };
  return h(
    'fieldset',
    { class: 'row' },
    h('legend', {}, wanted.length > 1 ? `Setting ${i + 1}` : 'What changes'),
    h('label', {}, 'Setting', h('select', { name: 'key-' + i, required: true, onchange: chooseKey }, option('', 'choose …', w.key), [...Map.groupBy(fields, (x) => x.section)].map(([name, some]) => h('optgroup', { label: name }, some.map((x) => option(x.key, `${x.label} (${x.key})`, w.key)))))),
    list ? h('label', {}, 'Change', h('select', { name: 'how-' + i, onchange: changed('how') }, option('add', 'add', w.how), option('remove', 'remove', w.how), option('set', 'replace by', w.how))) : null,
    f?.kind === 'pace' ? h('div', { class: 'grow' }, input()) : h('label', { class: 'grow' }, list ? 'Names, one on each line' : 'Value; empty removes the setting', input()),
    f ? h('p', { class: 'more' }, f.doc.replaceAll('`', '')) : null,
  );
}

const order = () => ({ files: [...chosen], settings: wanted.filter((w) => w.key) });

async function check(again) {
  plan = result = null;
  try {
    plan = await ask('edit/many/plan', order());
  } catch (e) {
    result = notice('bad', e.message);
  }
  await again();
  document.getElementById('result')?.focus();
}

// effect shows the differences of the files, their faults, and what the change does to the crawl.
function effect(again) {
  const p = plan;
  return [
    p.skipped.map((l) => notice('warn', `${l.name} stays unchanged: ${l.why}`)),
    p.already_set ? notice('', `${plural(p.already_set, 'file')} would stay the same. Names that an import gave to single seeds are changed by an import.`) : null,
    p.faults.length
      ? table(
          'Faults. Nothing can be saved before they are gone.',
          [
            ['file', (f) => f.file, 'wide'],
            ['setting', (f) => f.key || '–', 'left'],
            ['value', (f) => f.value || '–', 'wide'],
            ['problem', (f) => f.problem, 'wide'],
            ['what would be right', (f) => f.remedy || '–', 'wide'],
          ],
          p.faults,
        )
      : p.files
        ? [
            h('h2', {}, `What would change in ${plural(p.files, 'file')}`),
            h('div', { class: 'row' }, h('button', { type: 'button', class: 'primary', onclick: () => save(again) }, `Save ${plural(p.files, 'file')}`)),
            onTheCrawl(p.plan),
            p.diffs.map((d) => h('details', { open: p.diffs.length === 1 }, h('summary', {}, d.name), h('pre', { class: 'diff panel', tabindex: '0', 'aria-label': 'Difference of ' + d.name }, d.diff))),
            p.files > p.diffs.length ? h('p', {}, `The differences of the first ${count(p.diffs.length)} files are shown.`) : null,
          ]
        : notice('', 'Nothing would change.'),
  ];
}

async function save(again) {
  try {
    const done = await ask('edit/many/save', { ...order(), digest: plan.digest });
    result = [
      notice('good', `Saved ${plural(done.files, 'host file')}. The daemon reads them at once, unless reload.watch is off. ${asBefore}`),
      committed(done),
      h('div', { class: 'row' }, button('Undo', () => undo(), again, 'Restore the host files as they were before this change?')),
    ];
    chosen.clear();
    wanted = [{ key: '', how: 'set', value: '' }];
  } catch (e) {
    result = notice('bad', e.message);
  }
  plan = null;
  await again();
}

async function undo() {
  const done = await ask('seeds/undo', {});
  result = [notice('good', `Undone: ${done.what}.`), committed(done)];
}
