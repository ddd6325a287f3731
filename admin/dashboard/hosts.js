// The list of sites, and the page of one site.
import { h, svg, inWords, hostLabel, stateWords, ask, optional, count, last, near, plural, span, moment, when, uriLink, table, pairs, notice, button, sitesOf, siteFields, goTo } from './page.js';
import { hosts as hostTable } from './overview.js';
import { partsOf } from './register.js';

const pageSize = 50;

export async function hostList(again, query) {
  const q = query.get('q') || '',
    state = query.get('state') || '',
    sort = query.get('sort') || 'overdue',
    offset = Number(query.get('offset')) || 0,
    sites = sitesOf(query);
  const answer = await ask('hosts?' + new URLSearchParams({ q, state, sort, limit: pageSize, offset, ...sites }));
  const go = (change) => goTo('hosts', { q, state, sort, ...sites, offset: 0, ...change });
  const of = Object.keys(sites).length ? '?' + new URLSearchParams(sites) : '';
  const options = (list, chosen) =>
    list.map(([value, name]) => h('option', { value, selected: value === chosen }, name));
  return [
    h('div', { class: 'title' }, h('h1', {}, 'Sites'), h('div', { class: 'row' }, await partsOf('hosts', of))),
    h(
      'form',
      {
        class: 'row',
        onsubmit(e) {
          e.preventDefault();
          go({ q: new FormData(e.target).get('q') });
        },
      },
      h('label', { class: 'grow' }, 'Part of the name', h('input', { name: 'q', value: q, type: 'search' })),
      siteFields(sites, go),
      h(
        'label',
        {},
        'State',
        h(
          'select',
          { onchange: (e) => go({ state: e.target.value }) },
          options(
            [
              ['', 'all'],
              ['overdue', 'overdue'],
              ['down', 'unreachable'],
              ...Object.entries(stateWords),
            ],
            state,
          ),
        ),
      ),
      h(
        'label',
        {},
        'Order',
        h(
          'select',
          { onchange: (e) => go({ sort: e.target.value }) },
          options(
            [
              ['overdue', 'most overdue'],
              ['uris', 'most URIs'],
              ['failures', 'most failures'],
              ['name', 'name'],
            ],
            sort,
          ),
        ),
      ),
      h('button', {}, 'Show'),
    ),
    hostTable(
      `${offset + 1} to ${offset + answer.hosts.length} of ${count(answer.total)}`,
      answer.hosts,
      'No site matches.',
      answer.total > answer.hosts.length,
    ),
    h(
      'div',
      { class: 'row' },
      offset > 0
        ? h('button', { type: 'button', onclick: () => go({ offset: Math.max(0, offset - pageSize) }) }, 'Previous')
        : null,
      offset + pageSize < answer.total
        ? h('button', { type: 'button', onclick: () => go({ offset: offset + pageSize }) }, 'Next')
        : null,
    ),
  ];
}

export async function hostPage(again, query, name) {
  const path = 'hosts/' + encodeURIComponent(name);
  const [host, queue, trust, found, days, site, troubles] = await Promise.all([
    ask(path),
    optional(path + '/queue?' + queueQuery(query)),
    partsOf('trust', name),
    optional('traps?host=' + encodeURIComponent(name)),
    partsOf('days', name).then((parts) => parts[0]),
    optional(path + '/site'),
    partsOf('troubles', name),
  ]);
  return [
    h(
      'div',
      { class: 'title' },
      h('h1', { dir: 'auto' }, host.about.title || hostLabel(name)),
      h('div', { class: 'row' }, await partsOf('host', name), orders(name, host, again)),
    ),
    about(host.about, name, await partsOf('captures', name)),
    h('div', { class: 'pictured' }, h('div', {}, health(host, troubles.flat(2).filter(Boolean).length), troubles, host.about.note ? h('p', { class: 'note', dir: 'auto' }, host.about.note) : null, versions(days, site)), await partsOf('picture', site?.picture)),
    site ? seeds(site) : null,
    h('h2', {}, 'Queue'),
    queue ? inQueue(name, queue, query) : notice('', 'This daemon does not list queues.'),
    numbers(host),
    days?.tables,
    trust,
    site?.settings.length ? h('details', {}, h('summary', {}, `Settings from files (${count(site.settings.length)})`), settings(site)) : null,
    traps(found, again),
  ];
}

// about shows what curators wrote about a site: who looks after it, labels and collections as links to what is new there.
function about(site, name, links) {
  const names = (kind, list) =>
    (list || []).map((n) => h('a', { class: 'tag', href: '#/?' + new URLSearchParams({ [kind]: n }) }, n));
  return h(
    'p',
    { class: 'row tags' },
    site.title ? h('span', {}, hostLabel(name)) : null,
    names('label', site.labels),
    names('collection', site.collections),
    site.owners?.length ? ['looked after by ', names('owner', site.owners)] : null,
    links,
  );
}

// health says in one sentence how a site is. troubles is the number of its seeds that bring no page.
function health(host, troubles) {
  const say = (kind, text, more) => h('p', { class: 'lead health ' + kind }, h('strong', {}, text[0]), ' ', text[1], more ? h('span', { class: 'more' }, ' ' + more) : null);
  const pages = plural(host.uris, 'URI') + ' known';
  if (host.removed) return say('warn', ['Removed.', 'Its host file is gone, so nothing is visited.']);
  if (host.paused) return say('warn', ['Paused', `by an operator since ${when(host.paused)}. Its URIs keep their places.`]);
  if (host.failures)
    return say('bad', [`Unreachable at the ${last(host.failures, 'visit')}.`, `It rests until ${when(host.rest_until)}. Its URIs keep their places and intervals.`], host.last_error && `Reason: ${host.last_error}`);
  if (host.uris && !host.queued) return say('bad', ['Nothing is visited.', `Of ${pages}, ${count(host.forbidden)} are forbidden by robots.txt and ${count(host.held)} held.`]);
  if (troubles) return say('bad', [troubles === 1 ? 'A seed brings no page.' : `${count(troubles)} seeds bring no page.`, `${pages}.`]);
  if (host.overdue_seconds > 3600)
    return say('warn', [`${span(host.overdue_seconds)} late.`, `${pages}; more is due than its pace allows. The command arcrawl overdue shows what the site would need.`]);
  if (host.overdue_seconds > 60) return say('good', ['Nearly on time.', `${pages}; what has waited longest is ${span(host.overdue_seconds)} late.`]);
  return say('good', ['On time.', [pages, host.in_progress ? '; visited right now.' : host.ready ? ['; the next visit is ', near(host.ready, 'late'), '.'] : '.']]);
}

// versions shows when versions came: by day, and by hour of the week.
const versions = (days, site) => {
  const drawings = [days?.calendar, site ? hours(site.hours) : null].filter(Boolean);
  return [days?.promises, drawings.length ? [h('h2', {}, 'Versions by day'), h('div', { class: 'heats' }, drawings)] : null];
};

// numbers shows politeness and numbers, for those who look after the machine.
const numbers = (host) => [
    h('h2', {}, 'Politeness and numbers'),
    pairs([
      ['state', stateWords[host.state]],
      ['URIs', `${count(host.uris)}: ${count(host.queued)} queued, ${count(host.forbidden)} forbidden by robots.txt, ${count(host.held)} held`],
      ['visits in progress', `${count(host.in_progress)} of at most ${count(host.slots)}`],
      ['overdue', span(host.overdue_seconds)],
      ['next visit', when(host.ready)],
      host.rest_until ? ['rests until', when(host.rest_until)] : null,
    ]),
  ];

// traps shows the traps and the paths that may be endless.
const traps = (found, again) => [
  found?.traps.length ? [h('h2', {}, 'Traps'), found.traps.map((t) => trap(t, again))] : h('p', { class: 'more' }, 'No traps found.'),
  ...(found?.budgets?.length ? [h('h2', {}, 'Paths that may be endless'), found.budgets.map((b) => budget(b, again))] : []),
];

// due shows when a URI is due, and what kept it from being visited the last time.
const due = (r) => (r.kept_out ? ['not visited: ', r.kept_out, h('div', { class: 'more' }, 'asked again ', near(r.due))] : near(r.due, 'late'));

const groupsOf = (a) => [...(a.labels || []), ...(a.collections || []), ...(a.owners || [])].join(', ');

// seeds shows the front page, sections, feeds and sitemaps with their next visits.
function seeds(site) {
  const words = (r) => [groupsOf(r.about), r.about.note].filter(Boolean).map((text) => h('div', { class: 'more', dir: 'auto' }, text));
  const found = site.seeds.filter((r) => r.found).length;
  const more = found ? `${plural(found, 'feed or sitemap', 'feeds or sitemaps')} found by itself` : 'no feed or sitemap found by itself';
  return [
    h('h2', {}, 'Sections and feeds'),
    table(
      `Front page, sections, feeds and sitemaps; ${more}${site.complete ? '' : ' so far'}`,
      [
        ['page', (r) => [uriLink(r.uri, r.about.title || r.title), words(r)], 'wide'],
        ['kind', (r) => [r.kind, r.found ? h('div', { class: 'more' }, 'found') : ''], 'left'],
        ['next visit', due],
        ['last change', (r) => near(r.last_change)],
        ['versions', (r) => count(r.versions)],
        ['changes and visits', (r) => inWords(r) || '–', 'wide'],
      ],
      site.seeds,
      'The configuration names no seed of this site.',
    ),
  ];
}

const settings = (site) =>
  table(
    'Everything else has its default',
    [
      ['key', (r) => h('code', {}, r.key), 'left'],
      ['value', (r) => h('code', {}, r.value), 'wide'],
      ['set in', (r) => r.origin, 'left'],
    ],
    site.settings,
  );

const queueSize = 20;

// queueQuery returns the parameters of the part of a queue that the address of the page asks for.
const queueQuery = (query) =>
  new URLSearchParams({
    limit: queueSize,
    ...Object.fromEntries(['q', 'sort', 'offset', 'seconds'].map((k) => [k, query.get(k)]).filter(([, value]) => value)),
  });

// inQueue shows a page of the queue, with a search in it and its orders.
function inQueue(name, queue, query) {
  const offset = Number(query.get('offset')) || 0;
  const at = (change) => {
    const next = new URLSearchParams(queueQuery(query));
    next.delete('limit');
    for (const [k, value] of Object.entries({ offset: '', seconds: '', ...change })) value ? next.set(k, value) : next.delete(k);
    return `#/host/${encodeURIComponent(name)}?${next}`;
  };
  const go = (change) => {
    location.hash = at(change);
  };
  const sorts = { due: 'next visit', uri: 'URI', wait: 'longest wait', visits: 'most visits', versions: 'most versions', status: 'last status' };
  const found = queue.found ? ` of ${count(queue.found)}${queue.complete ? '' : ' or more'}` : '';
  return [
    h(
      'form',
      {
        class: 'row',
        role: 'search',
        onsubmit(e) {
          e.preventDefault();
          go({ q: new FormData(e.target).get('q').trim() });
        },
      },
      h('label', { class: 'grow' }, 'Part of a URI in the queue', h('input', { name: 'q', type: 'search', value: query.get('q') || '' })),
      h(
        'label',
        {},
        'Order',
        h(
          'select',
          { onchange: (e) => go({ sort: e.target.value }) },
          Object.entries(sorts).map(([value, text]) => h('option', { value, selected: value === (query.get('sort') || 'due') }, text)),
        ),
      ),
      h('button', {}, 'Show'),
    ),
    table(
      queue.uris.length ? `${count(offset + 1)} to ${count(offset + queue.uris.length)}${found}` : 'Queue',
      [
        ['page', (r) => uriLink(r.uri, r.title), 'wide'],
        ['next visit', due],
        ['wait', (r) => span(r.wait_seconds)],
        ['visits', (r) => count(r.visits)],
        ['versions', (r) => count(r.versions)],
        ['last status', (r) => r.last_status || '–'],
      ],
      queue.uris,
      query.get('q') ? 'No URI in the queue has this text.' : 'The queue is empty.',
      true,
    ),
    queue.complete
      ? null
      : h(
          'p',
          {},
          'Not all URIs of the site were read yet. ',
          query.get('seconds') ? null : h('a', { href: at({ offset, seconds: 10 }) }, 'Read all'),
        ),
    h(
      'div',
      { class: 'row' },
      offset > 0 ? h('button', { type: 'button', onclick: () => go({ offset: Math.max(0, offset - queueSize), seconds: query.get('seconds') }) }, 'Previous') : null,
      queue.more ? h('button', { type: 'button', onclick: () => go({ offset: offset + queueSize, seconds: query.get('seconds') }) }, 'Next') : null,
    ),
  ];
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

// hours shows at which hours of the week versions were captured: a row for each day from Monday, a column for each hour.
function hours(known) {
  if (!known.captures) return null;
  const most = Math.max(...known.counts.flat());
  const cells = [0, 6, 12, 18].map((hour) => svg('text', { x: 34 + hour * 17, y: 11 }, `${hour}:00`));
  for (const [row, day] of [1, 2, 3, 4, 5, 6, 0].entries()) {
    cells.push(svg('text', { x: 0, y: 28 + row * 17 }, weekdays[day].slice(0, 3)));
    for (let hour = 0; hour < 24; hour++) {
      const n = known.counts[day][hour];
      const level = n ? 1 + Math.min(3, Math.floor((3 * n) / most)) : 0;
      const cell = svg('rect', { x: 34 + hour * 17, y: 17 + row * 17, width: 14, height: 14, rx: 3, class: 'heat' + level });
      cell.append(svg('title', {}, `${weekdays[day]}, ${hour}:00 to ${hour}:59 UTC: ${plural(n, 'version')}`));
      cells.push(cell);
    }
  }
  const perHour = Array.from({ length: 24 }, (_, hour) => known.counts.reduce((sum, day) => sum + day[hour], 0));
  const busiest = perHour.indexOf(Math.max(...perHour));
  const text = `${plural(known.captures, 'version')} since ${moment(known.since).slice(0, 10)} by hour of the week; most came between ${busiest}:00 and ${busiest}:59 UTC.`;
  return h('figure', {}, svg('svg', { viewBox: '0 0 442 136', class: 'heat wide', role: 'img', 'aria-label': text }, ...cells), h('figcaption', { class: 'more' }, text));
}

function orders(name, host, again) {
  const order = (verb) => () => ask('frontier/hosts', { pattern: name, verb });
  return host.paused
    ? button('Resume the site', order('resume'), again, null, 'operate')
    : button(
        'Pause the site',
        order('pause'),
        again,
        'Pause this site? Its URIs keep their places. A pause survives a restart.',
        'operate',
      );
}

// trap shows a trap, the scope rule that would keep it out permanently, and a button to release it.
// budget shows a path that may be endless, and ends its budget.
const budget = (b, again) => [
  pairs([
    ['path', h('code', {}, b.pattern)],
    ['visited', `${plural(b.visited, 'page')}, ${count(b.with_news)} of them with something new; ${count(b.allowed)} are allowed`],
    ['waiting', `${plural(b.waiting, 'URI')} never visited; put off ${plural(b.deferred, 'time')}`],
    ['examples', b.examples.map((e) => h('div', {}, uriLink(e)))],
  ]),
  h(
    'div',
    { class: 'row' },
    button(
      'End the budget',
      () => ask('traps/release', { host: b.host, pattern: b.pattern }),
      again,
      'Are these pages real? Their URIs become due now, and the path never has a budget again.',
      'curate',
    ),
  ),
];

function trap(t, again) {
  const kept = t.released ? 'released' : `${plural(t.kept_out, 'URI')} kept out, ${count(t.visited)} visited before`;
  return [
    pairs([
      ['trap', `${t.kind}: ${kept}, since ${moment(t.found)}`],
      ['pattern', h('code', {}, t.pattern)],
      ['evidence', t.why],
      t.free_from ? ['except', `dates from ${t.free_from} to ${t.free_until}, and this month`] : null,
      ['examples', t.examples.map((e) => h('div', {}, uriLink(e)))],
      t.rule ? ['rule for the host file', h('pre', {}, t.rule)] : null,
    ]),
    t.released
      ? null
      : h(
          'div',
          { class: 'row' },
          button(
            'Release the trap',
            () => ask('traps/release', { host: t.host, pattern: t.pattern }),
            again,
            'Release this trap permanently? Its URIs become due now, and the pattern is never recognized as a trap again.',
            'curate',
          ),
        ),
  ];
}
