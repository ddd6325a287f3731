// What headers were worth, what deduplication saved, and what is wrong in the configuration.
import { h, ask, count, bytes, percent, moment, when, hostLink, table, pairs, notice, button } from './page.js';

export async function headers() {
  const report = await ask('reports/headers');
  return [
    h('h1', {}, 'What ETag and Last-Modified were worth'),
    h('p', {}, 'Counted from visits where both the headers and the body are known. "Same, falsely": the header said that nothing had changed, and it had; a version that would have been lost.'),
    trustTable(report.rows),
    h('h2', {}, 'What the dates of feeds and sitemaps were worth'),
    h('p', {}, 'Of entries: the feed itself changed then. Of pages: a page that is listed changed then. Those that are believed tell the rule "learned" when there was a change.'),
    datesTable(report.dates), report.more ? h('p', {}, 'There are more, beyond 10,000.') : null,
  ];
}

export function trustTable(rows) {
  return table('By host, class of content and validator', [
    ['host', (r) => hostLink(r.host)], ['content', (r) => r.content, 'left'], ['validator', (r) => r.validator, 'left'],
    ['change, rightly', (r) => count(r.change_right)], ['change, falsely', (r) => count(r.change_false)], ['same, rightly', (r) => count(r.same_right)],
    ['same, falsely', (r) => h('span', { class: r.same_false ? 'bad' : '' }, count(r.same_false))], ['missing', (r) => count(r.missing)],
    ['precision', (r) => r.known ? (100 * r.precision).toFixed(1) + ' %' : '–'], ['believed', (r) => r.believed ? 'yes' : 'no'],
  ], rows, 'Nothing was learned yet.');
}

export function datesTable(rows) {
  return table('By host and what is dated', [
    ['host', (r) => hostLink(r.host)], ['dates of', (r) => r.of, 'left'], ['right', (r) => count(r.right)], ['false', (r) => count(r.false)],
    ['precision', (r) => r.known ? (100 * r.precision).toFixed(1) + ' %' : '–'], ['believed', (r) => r.believed ? 'yes' : 'no'],
  ], rows, 'No date was looked into yet.');
}

export async function dedup() {
  const report = await ask('reports/dedup');
  const columns = (name) => [
    [name, (r) => name === 'host' ? hostLink(r.key) : r.key || 'all'], ['looked for', (r) => count(r.handled)], ['new', (r) => count(r.new)], ['duplicates', (r) => count(r.duplicates)], ['share', (r) => percent(r.duplicates, r.handled)],
    ['same URI', (r) => count(r.exact)], ['equivalent URI', (r) => count(r.equivalent)], ['other URI', (r) => count(r.other)], ['bytes', (r) => bytes(r.bytes)], ['not stored', (r) => bytes(r.discarded_bytes)],
  ];
  return [
    h('h1', {}, 'What deduplication came to'), h('p', {}, `Going by the crawl log since ${moment(report.from)}. arcrawl report dedup tells of any period.`),
    table('In all', columns(''), [report.all]), h('h2', {}, 'By host'), table('The hosts with the most visits', columns('host'), report.hosts), h('h2', {}, 'By type'), table('The types with the most visits', columns('type'), report.types),
  ];
}

export async function config(again) {
  const c = await ask('config');
  const list = (caption, faults) => table(caption, [
    ['where', (f) => [f.file, f.line, f.column].filter(Boolean).join(':'), 'wide'], ['key', (f) => f.key || '–', 'left'], ['value', (f) => f.value || '–', 'wide'], ['problem', (f) => f.problem, 'wide'], ['remedy', (f) => f.remedy || '–', 'wide'],
  ], faults);
  return [
    h('h1', {}, 'Configuration'),
    c.faults.length ? notice('bad', `The last attempt to load a new one, ${when(c.tried)}, failed. The one of ${moment(c.loaded)} stays in force.`) : notice('good', `In force since ${when(c.loaded)}.`),
    h('div', { class: 'row' }, button('Reload', () => ask('reload', {}), again)),
    pairs([['file', h('code', {}, c.path)], ['digest', h('code', {}, c.digest)]]),
    h('h2', {}, 'Faults'), c.faults.length ? list('Why the last attempt failed', c.faults) : h('p', { class: 'panel' }, 'None.'),
    h('h2', {}, 'Warnings'), c.warnings.length ? list('Of the configuration in force', c.warnings) : h('p', { class: 'panel' }, 'None.'),
  ];
}
