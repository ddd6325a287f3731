// Editing files of the configuration: a form for the settings that curators use, the text for all, both with the checks
// and the effect on the crawl before anything is written.
import { h, ask, committed, count, plural, table, notice, hostLink, sitesOf, siteForm, goTo, lead, may, needsRole } from './page.js';
import { choose } from './many.js';
import { onTheCrawl } from './plan.js';
import { asBefore, inWords, pace } from './pace.js';
import { seedForm } from './seedform.js';

let draft = null; // {key, file, text, settings, plan, result, both}: what is being edited, until it is saved or left

export async function editPage(again, query, name) {
  if (!may('curate')) return needsRole('Edit the configuration', 'curate');
  const host = query.get('host') || '';
  const key = host ? 'host ' + host : name;
  if (!name && !host) return list(query);
  if (!draft || draft.key !== key) await load(key, host ? 'host=' + encodeURIComponent(host) : 'name=' + encodeURIComponent(name));
  return page(again, query.get('key'));
}

export async function mainPage(again) {
  if (!may('operate')) return needsRole('Edit the main file', 'operate');
  if (!draft || draft.key !== '') await load('', 'name=');
  return page(again);
}

async function load(key, query) {
  const file = await ask('edit/file?' + query);
  draft = { key, file, text: file.text, fields: file.fields, settings: {}, plan: null, result: null, both: null };
}

// list shows the host files, and a form for a new one.
async function list(query) {
  const all = await ask('edit/files');
  const sites = sitesOf(query);
  const is = (f) => Object.entries({ label: 'labels', collection: 'collections', owner: 'owners' }).every(([key, of]) => !sites[key] || f.about[of]?.includes(sites[key]));
  const files = all.files.filter(is);
  const field = h('input', { name: 'host', required: true, spellcheck: 'false', autocapitalize: 'none', placeholder: 'www.news.example' });
  return [
    h('h1', {}, 'Edit the configuration'),
    h('p', {}, `Host files are in ${all.dir}. Nothing is written before you have seen what would change.`),
    h(
      'form',
      {
        class: 'row',
        onsubmit(e) {
          e.preventDefault();
          location.hash = '#/edit?host=' + encodeURIComponent(field.value.trim());
        },
      },
      h('label', { class: 'grow' }, 'Host, known or new', field),
      h('button', {}, 'Edit its file'),
    ),
    siteForm(sites, (change) => goTo('edit', { ...sites, ...change })),
    choose(files, plural(files.length, 'host file') + (files.length < all.files.length ? ` of ${count(all.files.length)}` : '')),
    may('operate') ? h('p', {}, h('a', { href: '#/main' }, 'Edit the main file'), `, ${all.main}.`) : null,
  ];
}

// page shows the form, the text, and what the change would do. It leads to the setting that is wanted.
function page(again, wanted) {
  const d = draft;
  const inForm = d.fields.some((f) => f.key === wanted);
  if (wanted) lead(inForm ? 'field-' + wanted : 'text');
  const area = h('textarea', {
    name: 'text',
    id: 'text',
    rows: '22',
    class: 'code',
    spellcheck: 'false',
    autocapitalize: 'none',
    wrap: 'off',
    oninput(e) {
      d.text = e.target.value;
      stale();
    },
  });
  area.value = d.text;
  const save = h('button', { type: 'button', class: ready(d) ? 'primary' : null, disabled: !ready(d), onclick: () => write(again) }, d.removing ? 'Remove the file' : 'Save');
  const result = h('div', { role: 'status', id: 'result', tabindex: '-1' }, d.result, d.both ? both(again) : null, d.plan ? effect(d.plan, area) : null);
  const stale = () => {
    d.plan = d.result = d.both = null;
    d.removing = false;
    save.disabled = true;
    save.textContent = 'Save';
    result.replaceChildren();
  };
  const sum = (text) => h('summary', {}, text);
  return [
    h('h1', {}, (d.file.exists ? 'Edit ' : 'New file ') + (d.file.name || d.file.path)),
    h('p', { class: 'long' }, d.file.name ? ['Settings of ', hostLink(d.file.host), ', in ', d.file.path, '.'] : 'The main file holds for all hosts.'),
    h(
      'form',
      {
        onsubmit(e) {
          e.preventDefault();
          check(again);
        },
      },
      d.file.name
        ? h(
            'details',
            { open: true },
            sum('Settings'),
            d.fields.length
              ? [...Map.groupBy(d.fields, (f) => f.section)].map(([name, fields]) =>
                  h('section', { class: 'part', 'aria-label': name }, h('h2', {}, name), h('div', { class: 'fields' }, fields.map((f) => field(f, stale)))),
                )
              : h('p', {}, 'The text is not TOML at this moment. The form comes back when it is.'),
          )
        : null,
      wanted && !inForm ? notice('', 'Set ', h('code', {}, wanted), ' in the text; docs/config.md explains it.') : null,
      h('details', { open: !d.fields.length || Boolean(d.textOpen), ontoggle: (e) => (d.textOpen = e.target.open) }, sum('Text of the file'), h('label', {}, 'All settings, as TOML', area)),
      h(
        'div',
        { class: 'row' },
        h('button', { class: ready(d) ? null : 'primary' }, 'Check'),
        save,
        d.file.name && d.file.exists ? h('button', { type: 'button', onclick: () => check(again, true) }, 'Remove this file …') : null,
        h('button', { type: 'button', onclick: () => leave(again) }, 'Start again from the file'),
      ),
    ),
    result,
  ];
}

const ready = (d) => Boolean(d.plan && !d.plan.faults.length && !d.plan.problem && !d.plan.on_disk && (d.plan.diff || d.removing));

const whole = ['pace', 'seeds'];

// field shows one setting. A changed one is set in the text by the check.
function field(f, stale) {
  const id = 'field-' + f.key;
  const set = (value) => {
    draft.settings[f.key] = value;
    stale();
  };
  const changed = (e) => set(e.target.value);
  const value = draft.settings[f.key] ?? f.value;
  const usual = f.default && f.default !== '""' && f.default !== '[]' ? inWords(f.default) : '';
  const common = { id, name: f.key, 'aria-describedby': id + '-doc', oninput: changed };
  let input;
  if (f.kind === 'pace') {
    input = pace(value, common, set, f.key);
  } else if (f.kind === 'seeds') {
    input = seedForm(value, common, set);
  } else if (f.kind === 'choice') {
    input = h(
      'select',
      common,
      h('option', { value: '' }, usual || 'not set'),
      f.choices.map((c) => h('option', { value: c, selected: c === value }, c)),
    );
  } else if (f.kind === 'lines') {
    input = h('textarea', { ...common, rows: String(Math.min(8, Math.max(2, value.split('\n').length))), spellcheck: f.key === 'note', dir: 'auto' });
    input.value = value;
  } else {
    input = h('input', { ...common, value, placeholder: usual, dir: 'auto', autocapitalize: 'none' });
  }
  const lines = f.kind === 'lines' && f.key !== 'note' ? ' One on each line.' : '';
  const doc = f.doc.replaceAll('`', '');
  const end = doc.indexOf('. ') + 1 || doc.length;
  return h(
    'div',
    { class: 'field' + (whole.includes(f.kind) ? ' whole' : '') },
    h(f.kind === 'seeds' ? 'strong' : 'label', { for: f.kind === 'seeds' ? null : id }, f.label, ' ', h('code', {}, f.key)),
    input,
    h('div', { class: 'more', id: id + '-doc' }, doc.slice(0, end) + lines),
    h('details', { class: 'more' }, h('summary', { 'aria-label': 'More about ' + f.label }, 'More'), doc.slice(end), ` Value: ${f.type}.`),
  );
}

// check asks for the faults, the difference and the effect.
async function check(again, remove) {
  const d = draft;
  d.removing = Boolean(remove);
  d.plan = d.result = d.both = null;
  try {
    const order = { name: d.file.name, digest: d.file.digest, text: d.text, settings: d.settings, remove: d.removing };
    const p = await ask('edit/plan', order);
    if (p.on_disk) {
      d.both = p.on_disk;
      d.fields = p.fields;
    } else {
      d.plan = p;
      if (!p.problem && !d.removing) {
        d.text = p.text.replaceAll('\r\n', '\n');
        d.fields = p.fields;
        d.settings = {};
      }
      if (p.faults.length) d.textOpen = true;
    }
  } catch (e) {
    d.result = notice('bad', e.message);
  }
  await show(again);
}

// show shows the result, which is below a long form.
async function show(again) {
  await again();
  const result = document.getElementById('result');
  result?.focus({ preventScroll: true });
  result?.scrollIntoView({ block: 'nearest' });
  const first = result?.getBoundingClientRect().top;
  if (first > innerHeight / 3) scrollBy(0, first - 60);
}

// write saves what the check has shown.
async function write(again) {
  const d = draft;
  try {
    const done = await ask('edit/save', { name: d.file.name, digest: d.file.digest, text: d.text, settings: {}, remove: d.removing });
    const removed = d.removing;
    const told = removed
      ? notice('good', `Removed: ${done.file} has another name now, and is not read any more. Rename it on disk to restore it.`)
      : notice('good', `Saved ${done.file}: ${plural(done.added, 'line')} added, ${count(done.removed)} removed. The daemon reads the file at once, unless reload.watch is off. ${asBefore}`);
    if (removed) d.file = { ...d.file, exists: false, digest: '' };
    else await load(d.key, d.file.name ? 'name=' + encodeURIComponent(d.file.name) : 'name=');
    draft.result = [told, committed(done)];
    draft.plan = null;
    draft.removing = false;
  } catch (e) {
    d.plan = null;
    d.result = notice('bad', e.message);
  }
  await show(again);
}

async function leave(again) {
  draft = null;
  await again();
}

// both shows the text on disk and one's own, if somebody else has changed the file. Neither is lost.
function both(again) {
  const d = draft;
  const own = (text, label) => {
    const area = h('textarea', { rows: '14', readonly: true, class: 'code', wrap: 'off' });
    area.value = text;
    return h('label', { class: 'grow' }, label, area);
  };
  const take = (text) => async () => {
    d.file = { ...d.file, exists: d.both.exists, digest: d.both.digest };
    d.both = null;
    if (text !== null) {
      d.text = text;
      d.settings = {};
    }
    await check(again);
  };
  return h(
    'section',
    { 'aria-label': 'Conflict' },
    notice(
      'bad',
      d.both.exists
        ? 'Somebody else has changed the file since you opened it. Nothing was written.'
        : 'Somebody else has removed or renamed the file since you opened it. Nothing was written.',
    ),
    h('div', { class: 'row' }, own(d.text, 'Your text'), own(d.both.text, d.both.exists ? 'The text on disk now' : 'There is no file now')),
    h(
      'div',
      { class: 'row' },
      d.both.exists ? h('button', { type: 'button', onclick: take(d.both.text) }, 'Continue with the text on disk') : null,
      h('button', { type: 'button', onclick: take(null) }, d.both.exists ? 'Continue with mine, instead of the text on disk' : 'Continue with mine, as a new file'),
    ),
  );
}

// effect shows the faults, or the difference and what it does to the crawl.
function effect(p, area) {
  const go = (f) => {
    const lines = area.value.split('\n');
    const at = lines.slice(0, f.line - 1).reduce((n, l) => n + l.length + 1, 0);
    area.closest('details').open = true;
    area.focus();
    area.setSelectionRange(at, at + (lines[f.line - 1] || '').length);
  };
  if (p.problem) return notice('bad', p.problem);
  if (p.faults.length)
    return [
      notice('bad', `${plural(p.faults.length, 'fault')}. Nothing can be saved before they are gone.`),
      table(
        'Faults',
        [
          ['line', (f) => (f.line ? h('button', { type: 'button', class: 'small', onclick: () => go(f) }, 'Line ' + f.line) : '–')],
          ['setting', (f) => f.key || '–', 'left'],
          ['value', (f) => f.value || '–', 'wide'],
          ['problem', (f) => f.problem, 'wide'],
          ['what would be right', (f) => f.remedy || '–', 'wide'],
        ],
        p.faults,
      ),
    ];
  if (!p.diff && !draft.removing) return notice('good', 'Nothing would change.');
  return [
    h('h2', {}, 'What would change'),
    h('pre', { class: 'diff panel', tabindex: '0', 'aria-label': 'Difference of the file' }, p.diff),
    onTheCrawl(p.plan),
  ];
}
