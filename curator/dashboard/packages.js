// The page that makes WACZ packages, and lists those that were made.
import { h, ask, bytes, count, moment, notice, plural, table, uriLink, may } from './page.js';

let problem = ''; // of the last order
let chosen = {}; // in the form, while the page is updated

export async function packagesPage(again, wanted) {
  const uri = wanted.get('u') || '';
  const [known, names] = await Promise.all([ask('packages'), uri ? {} : ask('new?limit=1').then((n) => n.names)]);
  const order = async (o) => {
    problem = '';
    try {
      await ask('packages', o);
    } catch (e) {
      problem = e.message;
    }
    await again();
  };
  return [
    h('h1', {}, uri ? 'Download a version' : 'Packages'),
    known.problem ? notice('warn', known.problem) : !may('curate') ? notice('', 'Packages are made by those with the role curate or operate.') : uri ? version(uri, wanted.get('at') || '', order) : period(names, order),
    problem ? notice('bad', problem) : null,
    list(known.packages),
  ];
}

// version offers a package of one version.
const version = (uri, at, order) => [
  h('p', { class: 'long' }, uriLink(uri)),
  h('p', {}, 'The package has this version with its pictures, styles and scripts, as they were archived nearest in time. Open it with ReplayWeb.page or another replay tool.'),
  h('p', {}, h('button', { type: 'button', class: 'primary', onclick: () => order({ uri, at }) }, 'Make the package')),
];

// period offers a package of a collection, label or owner and some days.
function period(names, order) {
  const groups = [['collection', names.collections], ['label', names.labels], ['owner', names.owners]].filter(([, list]) => list?.length);
  if (!groups.length)
    return notice('', 'No site has a collection, a label or an owner yet. Give sites one in their host files, or with an import of seeds; then they can be packed together. A single version is packed from its page.');
  const form = h(
    'form',
    {
      class: 'row',
      oninput: (e) => (chosen = Object.fromEntries(new FormData(e.currentTarget))),
      onsubmit(e) {
        e.preventDefault();
        const data = new FormData(e.target);
        const [kind, name] = data.get('what').split('\n');
        order({ [kind]: name, since: data.get('since'), until: data.get('until'), series: data.get('series') || undefined });
      },
    },
    h(
      'label',
      { class: 'grow' },
      'Sites',
      h(
        'select',
        { name: 'what' },
        groups.map(([kind, list]) => h('optgroup', { label: kind }, list.map((n) => h('option', { value: kind + '\n' + n, selected: chosen.what === kind + '\n' + n }, n)))),
      ),
    ),
    h('label', {}, 'First day (UTC)', h('input', { name: 'since', type: 'date', value: chosen.since })),
    h('label', {}, 'Last day (UTC)', h('input', { name: 'until', type: 'date', value: chosen.until })),
    h('label', {}, 'Series, if there are several', h('input', { name: 'series', value: chosen.series, size: 12, placeholder: '- = none' })),
    h('button', { class: 'primary' }, 'Make the package'),
  );
  return [h('p', {}, 'A package (WACZ) holds the captures of some sites and days, with what their pages show. Replay tools such as ReplayWeb.page play it anywhere.'), form];
}

const states = { waiting: 'waiting', choosing: 'looking for captures', copying: 'copying', done: 'done', failed: 'failed' };

// state says how far a package is.
function state(p) {
  if (p.state === 'done') return p.link && h('a', { href: p.link, download: p.name, 'aria-label': 'Download ' + p.name }, 'download');
  if (p.state === 'copying') return `${count(p.copied)} of ${count(p.captures)} captures copied`;
  return states[p.state] + (p.state === 'choosing' && p.captures ? `, ${plural(p.captures, 'capture')} so far` : '');
}

const list = (packages) =>
  table(
    'Packages, newest first. The last five are kept.',
    [
      ['state', state, 'left'],
      ...(packages.some((p) => p.node) ? [['node', (p) => p.node, 'left']] : []),
      ['what', (p) => [h('bdi', {}, p.what), (p.notes || []).concat(p.problem || []).map((text) => h('div', { class: 'more' }, text))], 'wide'],
      ['captures', (p) => (p.captures ? count(p.captures) : '–')],
      ['size', (p) => (p.size ? bytes(p.size) : '–')],
      ['ordered (UTC)', (p) => moment(p.ordered)],
    ],
    packages,
    'No package was made yet.',
  );
