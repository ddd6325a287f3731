// Import of a list of seeds: choose or paste it, see what it would change, write the host files, undo.
import { h, ask, committed, may, plural, table, notice, uriLink, button, sitesOf, siteFields, goTo } from './page.js';

let text = ''; // the list, while the page is open
let given = ''; // the list that a link gave the page
let plan = null;
let result = null;

// importPage shows the list and, once it was checked, what it would change.
export async function importPage(again, query) {
  const sites = sitesOf(query);
  const list = query.get('list') || '';
  if (list !== given) text = list || text;
  given = list;
  const check = async () => {
    result = null;
    try {
      plan = await ask('seeds/plan', { text });
    } catch (e) {
      plan = null;
      result = notice('bad', e.message);
    }
    await again();
  };
  const area = h('textarea', {
    name: 'list',
    rows: '8',
    spellcheck: 'false',
    placeholder: 'uri,label,owner,note\nhttps://www.news.example/,newspapers,maria,',
    oninput: (e) => (text = e.target.value),
  });
  area.value = text;
  const take = async (e) => {
    const file = e.target.files[0];
    if (!file) return;
    if (file.size > 20e6) {
      result = notice('bad', `${file.name} has more than 20 MB. Import it with: arcrawl seeds add --from`);
      return again();
    }
    text = await file.text();
    await check();
  };
  return [
    h('h1', {}, may('curate') ? 'Add sites' : 'Seeds'),
    h(
      'p',
      {},
      'One URI on each line, or CSV whose first line names the columns: uri, label, collection, title, owner, note, target, until. ' +
        'Nothing is written before you have seen what would change.',
    ),
    h(
      'form',
      {
        onsubmit(e) {
          e.preventDefault();
          check();
        },
      },
      h('div', { class: 'row' }, h('label', {}, 'File', h('input', { type: 'file', accept: '.csv,.txt,text/csv,text/plain', onchange: take }))),
      h('label', {}, 'or paste the list', area),
      h(
        'div',
        { class: 'row' },
        h('button', { class: plan?.files ? null : 'primary' }, 'Check the list'),
        button('Undo the last change', undo, again, 'Restore the host files as they were before the last import, or the last change of several files?', 'curate'),
      ),
    ),
    result,
    plan ? preview(again) : null,
    h('h2', {}, 'Export the seeds'),
    h('p', {}, 'The seeds with their labels, collections, owners, notes and targets, as a CSV list for a spreadsheet. It can be imported again.'),
    h('form', { class: 'row' }, siteFields(sites, (change) => goTo('import', { ...sites, ...change })), button('Save the seeds as a file', () => save(sites), () => {})),
  ];
}

// preview shows the faults, then what is new and changed, and a button that writes.
function preview(again) {
  const p = plan;
  return [
    h('h2', {}, 'What would change'),
    notice(
      p.faulty ? 'bad' : 'good',
      `${plural(p.new, 'new seed')}, ${p.changed} changed, ${p.known} known, ${plural(p.faulty, 'faulty line')}; ` +
        `${plural(p.files, 'host file')} to write, ${p.new_files} of them new.`,
    ),
    p.faults.length
      ? table(
          'Lines with faults are not imported',
          [
            ['line', (f) => f.line],
            ['column', (f) => f.column],
            ['field', (f) => f.field || '–', 'left'],
            ['value', (f) => f.value || '–', 'wide'],
            ['problem', (f) => f.problem, 'wide'],
            ['what would be right', (f) => f.remedy, 'wide'],
          ],
          p.faults,
        )
      : null,
    p.files
      ? h('div', { class: 'row' }, button(`Write ${plural(p.files, 'host file')}`, write, again, null, 'curate', true))
      : h('p', {}, 'There is nothing to write.'),
    p.seeds.length
      ? table(
          'New and changed seeds',
          [
            ['URI', (s) => uriLink(s.uri), 'wide'],
            ['state', (s) => s.state, 'left'],
            ['labels, collections, owner', (s) => names(s.about), 'left'],
          ],
          p.seeds,
        )
      : null,
  ];
}

const names = (a) => [...(a.labels || []), ...(a.collections || []), ...(a.owners || [])].join(', ') || '–';

async function write() {
  const done = await ask('seeds/import', { text });
  const told = notice('good', `Wrote ${plural(done.files, 'host file')} with ${plural(done.new, 'new seed')}. The daemon reads them at once, unless reload.watch is off. `, h('a', { href: '#/' }, 'See the first captures'));
  result = [told, committed(done)];
  plan = null;
  text = '';
}

async function undo() {
  const done = await ask('seeds/undo', {});
  result = [notice('good', `Undone: ${done.what}, ${plural(done.files, 'host file')}.`), committed(done)];
  plan = null;
}

// save lets the browser store the seeds as a CSV file.
async function save(sites) {
  const list = await ask('seeds/export?' + new URLSearchParams(sites));
  const link = h('a', { href: URL.createObjectURL(new Blob([list.text], { type: 'text/csv' })), download: 'seeds.csv' });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
