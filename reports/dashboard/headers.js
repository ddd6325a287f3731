// Reports: reliability of headers and dates, deduplication.
import { h, ask, optional, count, bytes, percent, moment, hostLink, table, sitesOf, siteForm, goTo } from './page.js';

export async function headers(again, query) {
  const sites = sitesOf(query);
  const report = await ask('reports/headers?' + new URLSearchParams(sites));
  return [
    h('h1', {}, 'Reliability of headers'),
    siteForm(sites, (change) => goTo('headers', { ...sites, ...change })),
    h(
      'p',
      {},
      'Counted from visits where both headers and body are known. "Same, wrong": the header said that nothing changed, but the body did; the version would have been lost.',
    ),
    trustTable(report.rows),
    h('h2', {}, 'Reliability of dates in feeds and sitemaps'),
    h(
      'p',
      {},
      'Dates of entries say when the feed changed, dates of pages when a listed page changed. The rule "learned" uses believed dates.',
    ),
    datesTable(report.dates),
    h('h2', {}, 'Sitemaps, feeds and front pages that say what changed'),
    h('p', {}, 'The pages of one that is followed are visited when it says that they changed, and otherwise only audited.'),
    indexTable(report.indexes),
    report.more ? h('p', {}, 'Only the first 10,000 rows are shown.') : null,
  ];
}

function trustTable(rows) {
  return table(
    'By site, class of content and validator',
    [
      ['site', (r) => hostLink(r.host)],
      ['content', (r) => r.content, 'left'],
      ['validator', (r) => r.validator, 'left'],
      ['change, right', (r) => count(r.change_right)],
      ['change, wrong', (r) => count(r.change_wrong)],
      ['same, right', (r) => count(r.same_right)],
      ['same, wrong', (r) => h('span', { class: r.same_wrong ? 'bad' : '' }, count(r.same_wrong))],
      ['missing', (r) => count(r.missing)],
      ['precision', (r) => (r.known ? (100 * r.precision).toFixed(1) + ' %' : '–')],
      ['believed', (r) => (r.believed ? 'yes' : 'no')],
    ],
    rows,
    'No visits to compare yet.',
  );
}

function indexTable(rows) {
  return table(
    'By sitemap',
    [
      ['site', (r) => hostLink(r.host)],
      ['sitemap', (r) => r.uri, 'left'],
      ['said, right', (r) => count(r.said_right)],
      ['said, wrong', (r) => count(r.said_wrong)],
      ['found, said', (r) => count(r.found_said)],
      ['left out', (r) => count(r.found_unsaid)],
      ['requests', (r) => count(r.requests)],
      ['received', (r) => bytes(r.received_bytes)],
      ['last read', (r) => moment(r.read)],
      ['followed', (r) => (r.followed ? 'yes' : 'no')],
    ],
    rows,
    'No sitemap with dates yet.',
  );
}

function datesTable(rows) {
  return table(
    'By site and kind of date',
    [
      ['site', (r) => hostLink(r.host)],
      ['dates of', (r) => r.kind, 'left'],
      ['right', (r) => count(r.right)],
      ['wrong', (r) => count(r.wrong)],
      ['precision', (r) => (r.known ? (100 * r.precision).toFixed(1) + ' %' : '–')],
      ['believed', (r) => (r.believed ? 'yes' : 'no')],
    ],
    rows,
    'No dates to compare yet.',
  );
}

// trustOf returns the reliability of the headers and dates of one host, for its page.
export async function trustOf(name) {
  const report = await optional('reports/headers');
  const ours = (rows) => (rows || []).filter((r) => r.host === name);
  const dates = ours(report?.dates);
  return h('details', {}, h('summary', {}, 'Reliability of headers'), trustTable(ours(report?.rows)), dates.length ? [h('h3', {}, 'Reliability of dates in feeds and sitemaps'), datesTable(dates)] : null);
}

export async function dedup(again, query) {
  const sites = sitesOf(query);
  const report = await ask('reports/dedup?' + new URLSearchParams(query.get('all') ? { ...sites, all: 'true' } : sites));
  const columns = (name) => [
    [name, (r) => (name === 'site' ? hostLink(r.key) : r.key || 'all')],
    ['looked up', (r) => count(r.handled)],
    ['new', (r) => count(r.new)],
    ['duplicates', (r) => count(r.duplicates)],
    ['share', (r) => percent(r.duplicates, r.handled)],
    ['same URI', (r) => count(r.exact)],
    ['equivalent URI', (r) => count(r.equivalent)],
    ['other URI', (r) => count(r.other)],
    ['bytes', (r) => bytes(r.bytes)],
    ['not stored', (r) => bytes(r.discarded_bytes)],
  ];
  return [
    h('h1', {}, 'Duplicates'),
    siteForm(sites, (change) => goTo('dedup', { ...sites, ...change })),
    h(
      'p',
      {},
      `From the crawl log since ${moment(report.from)}. `,
      report.complete ? null : [h('a', { href: '#/dedup?' + new URLSearchParams({ ...sites, all: 1 }) }, 'Read the whole log'), '. '],
      'The command arcrawl report visits --dedup shows any period.',
    ),
    table('Total', columns('total'), [report.all]),
    h('h2', {}, 'By site'),
    table('Sites with the most visits', columns('site'), report.hosts),
    h('h2', {}, 'By type'),
    table('Types with the most visits', columns('type'), report.types),
  ];
}
