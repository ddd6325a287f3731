// The home page of curators: what was captured, live, and what is missing.
import { h, ask, count, moment, when, plural, hostLabel, uriLink, siteFields, goTo, knowGroups } from './page.js';

const types = [
  ['', 'all types'],
  ['text/html', 'pages'],
  ['image/', 'images'],
  ['application/pdf', 'PDF'],
  ['text/css', 'style sheets'],
  ['application/', 'applications'],
];

// whatIsNew shows the latest captures that the filter selects.
export async function whatIsNew(again, query) {
  const chosen = Object.fromEntries(
    ['label', 'collection', 'owner', 'host', 'kind', 'type', 'q', 'limit'].map((k) => [k, query.get(k) || '']),
  );
  const asked = Object.entries(chosen).filter(([, value]) => value);
  const news = await ask('new?' + new URLSearchParams(asked));
  knowGroups(news.names);
  const filtered = asked.some(([key]) => key !== 'limit');
  const title = (host) => news.sites[host] || hostLabel(host);
  return [
    h('h1', {}, 'What is new'),
    form(chosen),
    h(
      'div',
      { class: 'columns' },
      h(
        'section',
        { 'aria-label': 'Recent captures' },
        news.captures.length
          ? h('ol', { class: 'stream' }, news.captures.map((c, i) => [day(c, news.captures[i - 1]), item(c, title)]))
          : h('p', { class: 'panel' }, filtered ? 'No recent capture matches.' : ['Nothing was captured yet. New captures appear here by themselves. ', h('a', { href: '#/import' }, 'Add sites')]),
        news.more ? more(chosen, news) : null,
        feed(asked),
      ),
      h('aside', {}, silent(news, title), down(news, title), short(news, title)),
    ),
  ];
}

// feed leads to the Atom feed of what is chosen.
const feed = (asked) => {
  const q = new URLSearchParams(asked.filter(([key]) => key !== 'limit'));
  return h('p', { class: 'more' }, h('a', { href: '/feed.atom' + (String(q) ? '?' + q : '') }, 'Feed (Atom) of these captures'));
};

// day shows the date above the captures of a day.
const day = (c, before) =>
  before?.at.slice(0, 10) === c.at.slice(0, 10) ? null : h('li', { class: 'day' }, c.at.slice(0, 10));

// item shows one capture.
function item(c, title) {
  const words = { first: 'first capture', checked: 'unchanged, checked on demand' }[c.kind] || `changed, version ${count(c.versions)}`;
  const stamp = c.at.slice(0, 19).replace(/[^0-9]/g, '');
  return h(
    'li',
    { class: c.kind },
    h('time', { datetime: c.at, title: moment(c.at) + ' UTC' }, c.at.slice(11, 19)),
    h(
      'div',
      { class: 'what' },
      h('a', { href: '#/uri?u=' + encodeURIComponent(c.uri), dir: 'auto' }, c.title || new URL(c.uri).pathname),
      h('div', { class: 'more' }, h('a', { href: '#/host/' + encodeURIComponent(c.host) }, title(c.host)), ` · ${words} · ${c.type || 'no type'}`),
    ),
    h('a', { class: 'see', href: `#/view?u=${encodeURIComponent(c.uri)}&at=${stamp}`, 'aria-label': `View ${c.title || c.uri}` }, 'view'),
  );
}

const go = (chosen, change) => goTo('', { ...chosen, ...change });

const more = (chosen, news) =>
  h(
    'div',
    { class: 'row' },
    news.captures.length < 500
      ? h('button', { type: 'button', onclick: () => go(chosen, { limit: Math.min(500, news.captures.length + 100) }) }, 'Show more')
      : null,
    h('span', {}, `${count(news.more)} earlier ones match too.`),
  );

// form lets a user choose by label, collection, owner, kind, type and text. Choices without names are left out.
function form(chosen) {
  const select = (name, label, options) =>
    h(
      'label',
      {},
      label,
      h(
        'select',
        { name, onchange: (e) => go(chosen, { [name]: e.target.value, limit: '' }) },
        options.map(([value, text]) => h('option', { value, selected: value === chosen[name] }, text)),
      ),
    );
  return h(
    'form',
    {
      class: 'row',
      role: 'search',
      onsubmit(e) {
        e.preventDefault();
        go(chosen, { q: new FormData(e.target).get('q'), limit: '' });
      },
    },
    siteFields(chosen, (change) => go(chosen, { ...change, limit: '' })),
    select('kind', 'Kind', [['', 'all kinds'], ['first', 'first captures'], ['changed', 'changed'], ['checked', 'checked on demand, unchanged']]),
    select('type', 'Type', types),
    h('label', { class: 'grow' }, 'Text in title or URI', h('input', { name: 'q', value: chosen.q, type: 'search' })),
    h('button', {}, 'Show'),
    chosen.host ? h('button', { type: 'button', onclick: () => go(chosen, { host: '' }) }, `Only ${hostLabel(chosen.host)} ×`) : null,
  );
}

const box = (title, items, empty) =>
  h('section', { class: 'panel box' }, h('h2', {}, title), items.length ? h('ul', {}, items) : h('p', { class: 'more' }, empty));

const silent = (news, title) =>
  box(
    'Nothing new for long',
    news.silent.map((a) =>
      h('li', {}, a.about?.includes('://') ? uriLink(a.about) : hostNamed(a.host, title), h('div', { class: 'more' }, `${a.text}. Since ${when(a.since)}.`)),
    ),
    'Every site has news as often as usual.',
  );

const down = (news, title) =>
  box(
    'Unreachable sites',
    news.unreachable.map((d) =>
      h('li', {}, hostNamed(d.host, title), h('div', { class: 'more' }, `at the last ${plural(d.failures, 'visit')}${d.error ? ': ' + d.error : ''}`)),
    ),
    'All sites were reachable at the last visit.',
  );

const short = (news, title) =>
  box(
    'Targets not met',
    news.below_target.map((s) => h('li', {}, hostNamed(s.host, title), h('div', { class: 'more' }, s.promise + '.'))),
    news.as_of ? 'All capture targets can be met.' : 'Not known yet: the crawl looks at all URIs once an hour.',
  );

const hostNamed = (host, title) => h('a', { href: '#/host/' + encodeURIComponent(host) }, title(host));
