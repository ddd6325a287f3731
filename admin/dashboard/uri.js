// The page of one URI: its history, the reason of its next visit, and what wings know of it.
import { h, ask, inWords, optional, uriLink, count, bytes, span, when, hostLink, table, pairs, notice, button, sitesOf, siteFields, goTo } from './page.js';
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
      'URI, or part of a host, path or title',
      h('input', { name: 'q', value: wanted || query.get('q') || '', type: 'search', required: true, placeholder: 'elections' }),
    ),
    wanted ? null : siteFields(sites, (change) => goTo('uri', { q: query.get('q'), ...sites, ...change })),
    h('button', {}, 'Search'),
  );
  if (!wanted && query.get('q')) return [h('h1', {}, 'Search'), form, await results(query)];
  if (!wanted) return [h('h1', {}, 'URI'), form];
  const q = '?uri=' + encodeURIComponent(wanted);
  const [known, visits, why] = await Promise.all([optional('uri' + q), partsOf('visits', wanted, query), optional('why' + q)]);
  if (!known) return [h('h1', {}, 'URI'), form, await whyNot(wanted)];
  return [
    h('h1', {}, known.uri),
    form,
    h(
      'div',
      { class: 'row' },
      h('a', { class: 'button', href: known.uri, target: '_blank', rel: 'noopener noreferrer' }, 'Live page'),
      button('Visit now', () => ask('frontier/steer', { select: { uris: [known.uri] }, verb: 'force' }), again),
    ),
    pairs([
      ['host', hostLink(new URL(known.uri).host)],
      ['found', `${known.hops ? 'by the hop path ' + known.hops : 'as a seed'}${known.via ? ', on ' + known.via : ''}`],
      ['next visit', when(known.due)],
      ['overdue', span(known.overdue_seconds)],
      ['interval', span(known.wait_seconds)],
      ['visits', `${count(known.visits)}, ${count(known.versions)} versions`],
      ['last visit', when(known.last_visit) + ', status ' + known.last_status],
      ['last change', when(known.last_change)],
      known.last_error ? ['last error', known.last_error] : null,
      ['failures', known.failures ? `${count(known.failures)} in a row` : 'none'],
      known.rate_per_day ? ['expected', inWords(known.rate_per_day, known.wait_seconds)] : null,
      ['content', `${known.content_type || '–'}, ${bytes(known.size)}`],
      ['ETag', known.etag || '–'],
      ['Last-Modified', known.last_modified || '–'],
      known.warc_file ? ['archived in', h('code', {}, `${known.warc_file} at ${known.warc_offset}`)] : null,
    ]),
    await partsOf('uri', known.uri),
    explain(why),
    visits,
  ];
}

// results shows the hosts and URIs with a text in them, and captures with it in their title.
async function results(query) {
  const [q, host, cursor] = ['q', 'host', 'cursor'].map((k) => query.get(k) || '');
  const sites = sitesOf(query);
  const found = await optional('search?' + new URLSearchParams({ q, host, cursor, limit: 100, ...sites }));
  if (!found) return notice('', 'This program does not search texts: the part for curators is not linked in. Write a whole URI.');
  const known = new Map(found.uris.map((f) => [f.uri, f]));
  for (const c of found.titles) known.set(c.uri, { ...c, ...known.get(c.uri), title: c.title });
  return [
    found.hosts.length ? h('p', { class: 'row' }, 'Hosts: ', found.hosts.map((name) => h('span', {}, hostLink(name)))) : null,
    table(
      'URIs with this text',
      [
        ['URI', (r) => [r.title ? h('div', { dir: 'auto' }, r.title) : '', uriLink(r.uri)], 'wide'],
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

// explain shows the next visit and its reason, the results of the rules, and the settings with their sources.
function explain(why) {
  if (!why) return null;
  return [
    h('h2', {}, 'Why'),
    pairs([
      ['now', why.state],
      ['next', why.next],
      ['because', why.why || '–'],
      why.chain ? ['decided', why.chain] : null,
      why.noise ? ['noise', why.noise] : null,
      ['ahead of it', why.ahead ? `${count(why.ahead)} URIs of the host` : 'no URI of the host'],
      [
        'pace of the host',
        `one visit every ${span(why.delay_seconds)} (${why.observed ? 'measured' : 'from its settings'})`,
      ],
    ]),
    rulesTable(why.rules),
    table(
      'Settings of the next visit that are not defaults',
      [
        ['key', (r) => r.key],
        ['value', (r) => r.value, 'left'],
        ['set in', (r) => r.origin, 'left'],
      ],
      why.settings || [],
    ),
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

