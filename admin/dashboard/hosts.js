// The list of hosts, and the page of one.
import { h, ask, optional, count, span, moment, when, uriLink, table, pairs, notice, button, percent } from './page.js';
import { hosts as hostTable } from './overview.js';
import { trustTable, datesTable } from './reports.js';

const pageSize = 50;

export async function hostList(again, query) {
  const q = query.get('q') || '', state = query.get('state') || '', sort = query.get('sort') || 'overdue', offset = Number(query.get('offset')) || 0;
  const answer = await ask('hosts?' + new URLSearchParams({ q, state, sort, limit: pageSize, offset }));
  const go = (change) => { location.hash = '#/hosts?' + new URLSearchParams({ q, state, sort, offset: 0, ...change }); };
  const options = (list, chosen) => list.map(([value, name]) => h('option', { value, selected: value === chosen }, name));
  return [
    h('h1', {}, 'Hosts'),
    h('form', { class: 'row', onsubmit(e) { e.preventDefault(); go({ q: new FormData(e.target).get('q') }); } },
      h('label', { class: 'grow' }, 'Part of the name', h('input', { name: 'q', value: q, type: 'search' })),
      h('label', {}, 'State', h('select', { onchange: (e) => go({ state: e.target.value }) }, options([['', 'all'], ['overdue', 'overdue'], ['down', 'cannot be reached'], ['ready', 'ready'], ['busy', 'busy'], ['snoozed', 'snoozed'], ['idle', 'idle'], ['paused', 'paused']], state))),
      h('label', {}, 'Order', h('select', { onchange: (e) => go({ sort: e.target.value }) }, options([['overdue', 'most overdue'], ['uris', 'most URIs'], ['failures', 'most failures'], ['name', 'name']], sort))),
      h('button', {}, 'Show')),
    hostTable(`${offset + 1} to ${offset + answer.hosts.length} of ${count(answer.total)}`, answer.hosts, 'No host is like that.'),
    h('div', { class: 'row' },
      offset > 0 ? h('button', { type: 'button', onclick: () => go({ offset: Math.max(0, offset - pageSize) }) }, 'Previous') : null,
      offset + pageSize < answer.total ? h('button', { type: 'button', onclick: () => go({ offset: offset + pageSize }) }, 'Next') : null),
  ];
}

export async function hostPage(again, query, name) {
  const path = 'hosts/' + encodeURIComponent(name);
  const [host, queue, headers, found, days] = await Promise.all([ask(path), optional(path + '/queue'), optional('reports/headers'), optional('traps?host=' + encodeURIComponent(name)), optional('reports/days?days=14&host=' + encodeURIComponent(name))]);
  const ours = (rows) => (rows || []).filter((r) => r.host === name);
  const dates = ours(headers?.dates);
  return [
    h('h1', {}, name), state(host),
    h('div', { class: 'row' }, orders(name, host, again)),
    pairs([
      ['state', host.state], ['URIs', `${count(host.uris)}, of them ${count(host.queued)} in the queue, ${count(host.forbidden)} forbidden by robots.txt, ${count(host.held)} held`],
      ['visits at once', `${count(host.in_progress)} now, at most ${count(host.slots)}`], ['overdue', span(host.overdue_seconds)],
      ['next visit', when(host.ready)], ['rests until', when(host.rests)], ['not reached', host.failures ? `${count(host.failures)} times in a row` : 'the last time it was'],
    ]),
    ...(days ? account(days) : []),
    h('h2', {}, 'Its queue'),
    queue ? table('Those that are due first', [
      ['URI', (r) => uriLink(r.uri), 'wide'], ['due', (r) => when(r.due)], ['wait', (r) => span(r.wait_seconds)], ['visits', (r) => count(r.visits)], ['versions', (r) => count(r.versions)],
      ['versions of visits', (r) => percent(r.versions, r.visits)], ['last status', (r) => r.last_status || '–'],
    ], queue.uris, 'Nothing waits.') : notice('', 'This daemon does not list queues.'),
    h('h2', {}, 'What its headers were worth'), trustTable(ours(headers?.rows)),
    ...(dates.length ? [h('h2', {}, 'What the dates of its feeds and sitemaps were worth'), datesTable(dates)] : []),
    h('h2', {}, 'Its traps'), found && found.traps.length ? found.traps.map((t) => trap(t, again)) : h('p', { class: 'panel' }, 'None was found.'),
  ];
}

// account is what the last days brought, the newest first, and what the host's pace can keep.
function account(days) {
  return [
    h('h2', {}, 'Day by day'), ...days.pace.map((b) => notice('', `At its pace ${b.promise}.`)),
    table('The last 14 days, in UTC; how many versions came into being is an estimate', [
      ['day', (r) => r.day, 'left'], ['requests', (r) => count(r.requests)], ['versions seen', (r) => count(r.versions_seen)], ['of some', (r) => count(Math.round(r.versions_estimated))],
      ['share', (r) => r.versions_seen ? percent(r.versions_seen, r.versions_estimated) : '–'], ['requests each', (r) => r.versions_seen ? r.requests_per_version.toFixed(1) : '–'],
    ], days.days.toReversed(), 'Nothing was counted yet.'),
  ];
}

function state(host) {
  if (host.paused) return notice('', `An operator paused it: ${when(host.paused)}.`);
  if (host.failures) return notice('bad', `It could not be reached ${count(host.failures)} times in a row, and rests until ${when(host.rests)}. Its URIs keep their places and intervals.`);
  if (host.overdue_seconds > 3600) return notice('', `It is ${span(host.overdue_seconds)} late. arcrawl overdue tells what it would need.`);
  return null;
}

function orders(name, host, again) {
  const order = (verb) => () => ask('frontier/hosts', { pattern: name, verb });
  return host.paused ? button('Resume the host', order('resume'), again)
    : button('Pause the host', order('pause'), again, 'Pause this host? Its URIs keep their places, and a pause outlives a restart.');
}

// trap shows a part of the host that is kept out, the rule that would keep it out for good, and the button that lets it go.
function trap(t, again) {
  const kept = t.released ? 'released' : `${count(t.kept)} URIs kept out, ${count(t.visited)} visited before`;
  return [
    pairs([
      ['trap', `${t.kind}: ${kept}, since ${moment(t.found)}`], ['pattern', h('code', {}, t.pattern)], ['seen', t.why],
      t.free_from ? ['but not', `dates from ${t.free_from} to ${t.free_until}, and this month`] : null,
      ['examples', t.examples.map((e) => h('div', {}, uriLink(e)))], t.rule ? ['rule for its file', h('pre', {}, t.rule)] : null,
    ]),
    t.released ? null : h('div', { class: 'row' }, button('Release the trap', () => ask('traps/release', { host: t.host, pattern: t.pattern }), again,
      'Release this trap for good? Its URIs are visited from now on, and the same pattern is never taken for a trap again.')),
  ];
}
