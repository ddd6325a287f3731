// What a plan does to the crawl, for the pages that save host files.
import { h, count, plural, table, notice, hostLink } from './page.js';

// onTheCrawl shows what a plan does to the crawl.
export function onTheCrawl(plan) {
  const e = Object.fromEntries(Object.entries(plan).map(([key, value]) => [key, value ?? []])); // an empty list may be null
  return [
    e.warnings.map((w) => notice('warn', `${w.key ? w.key + ': ' : ''}${w.problem}${w.remedy ? '; ' + w.remedy : ''}`)),
    e.at_restart.length ? notice('warn', 'In force only after a restart of the daemon: ' + e.at_restart.map((c) => c.key).join(', ')) : null,
    facts(e),
    e.load.length
      ? table(
          'Load of the sites, in requests a day',
          [
            ['site', (l) => hostLink(l.host), 'left'],
            ['URIs', (l) => count(l.uris)],
            ['before', (l) => count(Math.round(l.before))],
            ['after', (l) => count(Math.round(l.after))],
            ['in words', (l) => l.text, 'wide'],
          ],
          e.load,
        )
      : null,
    e.changes.length
      ? table(
          `${plural(e.changes.length + e.more, 'setting')} in force would change`,
          [
            ['host', (c) => (c.host ? hostLink(c.host) : 'all'), 'left'],
            ['setting', (c) => c.key, 'left'],
            ['before', (c) => c.before || '–', 'wide'],
            ['after', (c) => c.after || '–', 'wide'],
          ],
          e.changes,
        )
      : null,
  ];
}

function facts(e) {
  const all = [];
  if (e.seeds_added.length) all.push(`${plural(e.seeds_added.length, 'new seed')}: ${e.seeds_added.slice(0, 5).join(', ')}`);
  if (e.seeds_removed.length) all.push(`${plural(e.seeds_removed.length, 'seed')} less: ${e.seeds_removed.slice(0, 5).join(', ')}`);
  if (e.due_now) all.push(`${plural(e.due_now, 'URI')} would be due at once`);
  if (e.names?.text) all.push(e.names.text);
  return all.length ? h('ul', {}, all.map((text) => h('li', {}, text))) : null;
}
