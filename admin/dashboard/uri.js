// The page of one URI: its history, the reason of its next visit, and what wings know of it.
import { h, ask, inWords, near, optional, plural, uriLink, count, bytes, span, when, hostLink, table, pairs, notice, button, sitesOf, siteFields, goTo } from './page.js';
import { partsOf } from './register.js';

export async function uriPage(again, query) {
  const wanted = query.get('u') || '';
  const sites = sitesOf(query);
  const form = h(
    'form',
    {
      class: 'row',
      role: 'search',
      onsubmit(e) {
        e.preventDefault();
        const text = new FormData(e.target).get('q').trim();
        goTo('uri', /^https?:\/\//.test(text) ? { u: text } : { q: text, ...sites });
      },
    },
    h(
      'label',
      { class: 'grow' },
      'URI, or part of a site, path or title',
      h('input', { name: 'q', value: wanted || query.get('q') || '', type: 'search', required: true, placeholder: 'elections' }),
    ),
    wanted ? null : siteFields(sites, (change) => goTo('uri', { q: query.get('q'), ...sites, ...change })),
    h('button', { class: 'primary' }, 'Search'),
  );
  if (!wanted && query.get('q')) return [h('h1', {}, 'Pages'), form, await results(query)];
  if (!wanted) return [h('h1', {}, 'Pages'), form, await partsOf('pages')];
  const q = '?uri=' + encodeURIComponent(wanted);
  const [known, visits, why] = await Promise.all([optional('uri' + q), partsOf('visits', wanted, query), optional('why' + q)]);
  if (!known) return [h('h1', { class: 'long' }, wanted), form, await whyNot(wanted)];
  return [
    h(
      'div',
      { class: 'title' },
      h('div', {}, h('h1', { dir: 'auto' }, known.title || known.uri), h('p', { class: 'long' }, known.title ? h('a', { href: known.uri, target: '_blank', rel: 'noopener noreferrer' }, known.uri) : null)),
      h(
        'div',
        { class: 'row' },
        await partsOf('actions', known.uri),
        button('Visit now', () => ask('frontier/steer', { select: { uris: [known.uri] }, verb: 'force' }), again, null, 'operate'),
        h('a', { class: 'button', href: known.uri, target: '_blank', rel: 'noopener noreferrer' }, 'Live page'),
      ),
    ),
    h('div', { class: 'pictured' }, facts(known, why), await partsOf('rendered', known.uri)),
    await partsOf('uri', known.uri),
    visits,
    h('h2', {}, 'Details'),
    further(known, why),
  ];
}

// facts shows what most people want to know of a URI.
const facts = (known, why) =>
  pairs([
    ['site', hostLink(new URL(known.uri).host)],
    ['versions', `${count(known.versions)} at ${plural(known.visits, 'visit')}`],
    ['last change', near(known.last_change)],
    ['last visit', [near(known.last_visit), `, status ${known.last_status}`]],
    known.failures ? ['failures', `${count(known.failures)} in a row${known.last_error ? ': ' + known.last_error : ''}`] : null,
    ['next visit', why && !why.at ? why.next : near(known.due, 'late')],
    ['because', why?.why || '–'],
    ['interval', span(known.wait_seconds)],
    known.rate_per_day ? ['expected', inWords(known)] : null,
    ['found', `${known.hops ? 'by the hop path ' + known.hops : 'as a seed'}${known.via ? ', on ' + known.via : ''}`],
  ]);

// further shows, folded, how the next visit was decided, the rules and settings, and what the archive has.
const further = (known, why) => [
  h(
    'details',
    {},
    h('summary', {}, 'Headers and record'),
    pairs([
      ['content', `${known.content_type || '–'}, ${bytes(known.size)}`],
      ['ETag', known.etag || '–'],
      ['Last-Modified', known.last_modified || '–'],
      known.warc_file ? ['archived in', h('code', {}, `${known.warc_file} at ${known.warc_offset}`)] : null,
      known.digest ? ['digest', h('code', {}, known.digest)] : null,
      ['known since', when(known.first_seen)],
      !known.failures && known.last_error ? ['last error', known.last_error] : null,
    ]),
  ),
  explain(known, why),
];

// results shows the sites and URIs with a text in them, and captures with it in their title.
async function results(query) {
  const [q, host, cursor] = ['q', 'host', 'cursor'].map((k) => query.get(k) || '');
  const sites = sitesOf(query);
  const found = await optional('search?' + new URLSearchParams({ q, host, cursor, limit: 100, ...sites }));
  if (!found) return notice('', 'This program does not search texts: the part for curators is not linked in. Write a whole URI.');
  const known = new Map(found.uris.map((f) => [f.uri, f]));
  for (const c of found.titles) known.set(c.uri, { ...c, ...known.get(c.uri), title: c.title });
  return [
    found.hosts.length ? h('p', { class: 'row' }, 'Sites: ', found.hosts.map((name) => h('span', {}, hostLink(name)))) : null,
    table(
      'Pages with this text',
      [
        ['page', (r) => uriLink(r.uri, r.title), 'wide'],
        ['versions', (r) => count(r.versions)],
        ['visits', (r) => count(r.visits)],
        ['type', (r) => r.type || '–', 'left'],
      ],
      [...known.values()],
      found.next ? 'Nothing found so far.' : 'No known URI has this text.',
    ),
    found.next
      ? h('p', {}, 'Not all URIs were searched yet. ', h('a', { href: '#/uri?' + new URLSearchParams({ q, host, cursor: found.next, ...sites }) }, 'Search further'))
      : null,
  ];
}

// explain shows how the next visit was decided, the results of the rules, and the settings with their sources.
function explain(known, why) {
  if (!why) return null;
  return [
    h(
      'details',
      {},
      h('summary', {}, 'How the next visit was decided'),
      pairs([
        ['now', why.state],
        ['next', why.next],
        ['due', when(known.due)],
        ['overdue', span(known.overdue_seconds)],
        why.chain ? ['decided', why.chain] : null,
        why.noise ? ['noise', why.noise] : null,
        ['ahead of it', why.ahead ? `${count(why.ahead)} URIs of the site` : 'no URI of the site'],
        ['pace of the site', `one visit every ${span(why.delay_seconds)} (${why.observed ? 'measured' : 'from its settings'})`],
      ]),
    ),
    h('details', {}, h('summary', {}, 'Scope and robots.txt'), rulesTable(why.rules)),
    why.settings?.length
      ? h(
          'details',
          {},
          h('summary', {}, `Settings that are not defaults (${count(why.settings.length)})`),
          table(
            'Settings of the next visit',
            [
              ['key', (r) => h('code', {}, r.key)],
              ['value', (r) => h('code', {}, r.value), 'wide'],
              ['set in', (r) => r.origin, 'left'],
            ],
            why.settings,
          ),
        )
      : null,
  ];
}

// rulesTable shows what each rule says about a URI.
const rulesTable = (rules) =>
  table(
    'Rules',
    [
      ['result', (r) => r.opinion],
      ['rule', (r) => r.rule, 'left'],
      ['because', (r) => r.why, 'wide'],
      ['where', (r) => r.where || '–', 'left'],
    ],
    rules,
  );

// whyNot shows which rule keeps a URI out.
async function whyNot(uri) {
  const answer = await optional('why-not?uri=' + encodeURIComponent(uri));
  if (!answer) return notice('', `${uri} is not a valid URI.`);
  return [
    notice('', 'It is not known' + (answer.reason ? ': ' + answer.reason : '') + '.'),
    rulesTable(answer.rules),
  ];
}

