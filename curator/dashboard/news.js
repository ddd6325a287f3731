// The home page of curators: what was captured, live, and what is missing.
import { h, ask, optional, count, last, moment, when, plural, hostLabel, uriLink, siteFields, goTo, knowGroups, may } from './page.js';
import { kinds, asked as askedChange, chips, details } from './change.js';

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
    ['label', 'collection', 'owner', 'host', 'kind', 'change', 'type', 'q', 'limit'].map((k) => [k, query.get(k) || '']),
  );
  const asked = Object.entries({ ...chosen, change: '', ...askedChange(chosen.change) }).filter(([, value]) => value);
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
          ? daysOf(news.captures, chosen.change).map((d) => [h('h2', { class: 'day' }, d.day), d.sites.map((s) => site(s, title))])
          : h('p', { class: 'panel' }, filtered ? 'No recent capture matches.' : ['Nothing was captured yet. New captures appear here by themselves. ', h('a', { href: '#/import' }, 'Add sites')]),
        news.more ? more(chosen, news) : null,
        news.uncompared ? h('p', { class: 'more' }, `${plural(news.uncompared, 'version')} since the start came too fast to be compared: arcrawl changes rebuild compares them.`) : null,
        feed(asked),
      ),
      h('aside', {}, barren(news), silent(news, title), down(news, title), short(news, title)),
    ),
  ];
}

// feed leads to the Atom feed of what is chosen.
const feed = (asked) => {
  const q = new URLSearchParams(asked.filter(([key]) => key !== 'limit'));
  return h('p', { class: 'more' }, h('a', { href: '/feed.atom' + (String(q) ? '?' + q : '') }, 'Feed (Atom) of these captures'));
};

const fewest = 3; // changes of a page that are shown one by one on a day

// daysOf groups captures by day, site and URI. Days, sites and URIs begin with the one captured last. Of changes of a
// kind, the last three of a page are shown one by one.
function daysOf(captures, single) {
  const days = [];
  for (const c of captures) {
    const day = c.at.slice(0, 10);
    if (days.at(-1)?.day !== day) days.push({ day, sites: [] });
    const sites = days.at(-1).sites;
    let site = sites.find((s) => s.host === c.host);
    if (!site) sites.push((site = { host: c.host, uris: new Map(), many: new Map() }));
    const many = (site.many.get(c.uri) || 0) + 1;
    site.many.set(c.uri, many);
    const key = c.uri + ' ' + (single ? Math.min(many, fewest) : 1);
    const known = site.uris.get(key);
    if (known) known.more++;
    else site.uris.set(key, { ...c, more: 0 });
  }
  return days;
}

const isPage = (c) => Boolean(c.change) || /html|pdf|^$/.test(c.type || ''); // what says that a page is gone may be plain text

// site shows what was captured of a site on a day: first its pages, and folded what belongs to them.
function site({ host, uris }, title) {
  const all = [...uris.values()];
  const [pages, files] = [all.filter(isPage), all.filter((c) => !isPage(c))];
  const name = title(host);
  const list = (of) => h('ol', { class: 'stream' }, of.map((c) => item(c, name)));
  return h(
    'section',
    { 'aria-label': name },
    h('h3', {}, hostNamed(host, title)),
    pages.length ? list(pages) : null,
    files.length && pages.length ? h('details', {}, h('summary', {}, kindsOf(files)), list(files)) : null,
    files.length && !pages.length ? list(files) : null,
  );
}

// kindsOf counts files by what they are.
function kindsOf(files) {
  const kind = (type) => (type.startsWith('image/') ? 'picture' : type.endsWith('css') ? 'style sheet' : /xml|rss|atom/.test(type) ? 'feed or list' : 'other file');
  const counts = new Map();
  for (const c of files) counts.set(kind(c.type), (counts.get(kind(c.type)) || 0) + 1);
  const text = [...counts].map(([noun, n]) => (noun === 'feed or list' && n > 1 ? `${n} feeds or lists` : plural(n, noun))).join(', ');
  const changed = files.filter((c) => c.kind === 'changed').length;
  return changed ? `${text}; ${count(changed)} changed` : text;
}

// shortTitle leaves out the name of the site at the end of a title: it is above.
function shortTitle(title, site) {
  const rest = title.endsWith(site) && title.slice(0, -site.length);
  return rest && /\s[|–—·:-]\s*$/.test(rest) ? rest.replace(/\s[|–—·:-]\s*$/, '') : title;
}

// item shows the last capture of a URI on a day.
function item(c, site) {
  const said = { first: 'first capture', checked: 'unchanged, checked on demand' }[c.kind];
  const words = said || (c.change ? [chips(c.change), `version\u00a0${count(c.versions)}`] : `changed, version ${count(c.versions)}`);
  const earlier = c.more ? `; ${count(c.more)} earlier in this list` : '';
  const type = c.type === 'text/html' || c.change ? '' : ` · ${c.type || 'no type'}`;
  const stamp = (t) => t.slice(0, 19).replace(/[^0-9]/g, '');
  const where = `u=${encodeURIComponent(c.uri)}&at=${stamp(c.at)}`;
  const link = (page, verb, more = '') => h('a', { href: `#/${page}?${where}${more}`, 'aria-label': `${verb} ${c.title || c.uri}` }, verb.toLowerCase());
  return h(
    'li',
    { class: c.kind },
    h('time', { datetime: c.at, title: moment(c.at) + ' UTC' }, c.at.slice(11, 19)),
    h(
      'div',
      { class: 'what' },
      h('a', { href: '#/uri?u=' + encodeURIComponent(c.uri), dir: 'auto' }, shortTitle(c.title || '', site) || new URL(c.uri).pathname),
      h('div', { class: 'more' }, words, earlier + type),
      c.change ? details(c.change, 3) : null,
    ),
    h('span', { class: 'see' }, c.kind === 'changed' && (!c.change || c.change.before) ? link('compare', 'Compare', c.change ? '&before=' + c.change.before : '') : null, link('view', 'View')),
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
    select('change', 'Change', kinds),
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

// settingsLink leads to the setting that helps most often.
const settingsLink = (host, key) => may('curate') && h('a', { class: 'button', href: '#/edit?' + new URLSearchParams({ host, key: key || '' }) }, 'Open the setting');

const barren = (news) =>
  news.seeds.length
    ? box('Seeds without a page', news.seeds.map((a) => h('li', {}, uriLink(a.about), h('div', { class: 'more' }, `${a.text.replace('the seed ' + a.about + ' ', '')}.`), settingsLink(a.host, a.setting))))
    : null;

// seedsWithout says on the page of a site which of its seeds bring no page.
export async function seedsWithout(host) {
  const news = await optional('new?limit=1&host=' + encodeURIComponent(host));
  return (news?.seeds || []).map((a) => h('p', { class: 'notice bad' }, `${a.text}. `, settingsLink(host, a.setting)));
}

const down = (news, title) =>
  box(
    'Unreachable sites',
    news.unreachable.map((d) =>
      h('li', {}, hostNamed(d.host, title), h('div', { class: 'more' }, `at the ${last(d.failures, 'visit')}${d.error ? ': ' + d.error : ''}`)),
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
