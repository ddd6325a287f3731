// Requests and versions of days and weeks: of one host on its page, and of all sites as a report.
import { h, svg, ask, optional, count, plural, percent, hostLink, notice, table, sitesOf, goTo } from './page.js';
import { reports } from './headers.js';

// heat shows the versions of each day as a calendar: a column for each week, a row for each day of the week.
function heat(list) {
  if (!list.length) return null;
  const known = new Map(list.map((r) => [r.day, r]));
  const most = Math.max(1, ...list.map((r) => r.versions_seen));
  const last = Date.parse(list.at(-1).day);
  const weekday = (t) => (new Date(t).getUTCDay() + 6) % 7;
  const first = last - (12 * 7 + weekday(last)) * 86400e3;
  const cells = [];
  for (let t = first, i = 0; t <= last; t += 86400e3, i++) {
    const day = new Date(t).toISOString().slice(0, 10);
    const r = known.get(day);
    const level = !r || !r.versions_seen ? 0 : 1 + Math.min(3, Math.floor((3 * r.versions_seen) / most));
    const cell = svg('rect', { x: Math.floor(i / 7) * 17, y: (i % 7) * 17, width: 14, height: 14, rx: 3, class: r ? 'heat' + level : 'heatless' });
    cell.append(svg('title', {}, r ? `${day}: ${plural(r.versions_seen, 'version')}, ${plural(r.requests, 'request')}` : `${day}: no visits`));
    cells.push(cell);
  }
  const text = `Versions of each day of the last 13 weeks; the most on a day is ${count(most)}. The tables below have the numbers.`;
  return h('figure', { class: 'panel' }, svg('svg', { viewBox: '0 0 221 119', class: 'heat', role: 'img', 'aria-label': text }, ...cells), h('figcaption', { class: 'more' }, text));
}

// shareOf returns the captured share of a day, with the bounds that the true share probably has.
function shareOf(r) {
  if (!r.versions_seen) return '–';
  const share = percent(r.versions_seen, r.versions_estimated);
  return r.share_high ? `${share} (${percent(r.share_low, 1)} to ${percent(r.share_high, 1)})` : share;
}

const daysKept = 92;

// weeks returns the sums of each week from Monday, newest first. A week whose first days are not kept any more is left out.
function weeks(days) {
  const sums = new Map();
  const last = Date.parse(days.at(-1).day);
  for (const r of days) {
    const t = Date.parse(r.day);
    const begin = t - ((new Date(t).getUTCDay() + 6) % 7) * 86400e3;
    if (begin <= last - daysKept * 86400e3) continue;
    const monday = new Date(begin).toISOString().slice(0, 10);
    const sum = sums.get(monday) || { day: monday, requests: 0, versions_seen: 0, versions_estimated: 0 };
    for (const key of ['requests', 'versions_seen', 'versions_estimated']) sum[key] += r[key];
    sum.requests_per_version = sum.requests / sum.versions_seen;
    sums.set(monday, sum);
  }
  return [...sums.values()].toReversed();
}

// periods returns a table of days or weeks.
const periods = (caption, heading, rows) =>
  table(
    caption,
    [
      [heading, (r) => r.day, 'left'],
      ['requests', (r) => count(r.requests)],
      ['versions captured', (r) => count(r.versions_seen)],
      ['of about', (r) => count(Math.round(r.versions_estimated))],
      ['share', shareOf],
      ['requests per version', (r) => (r.versions_seen ? r.requests_per_version.toFixed(1) : '–')],
    ],
    rows,
    'No data yet.',
  );

// daysOf returns the requests and versions of one host, for its page.
export async function daysOf(name) {
  const days = await optional('reports/days?days=92&host=' + encodeURIComponent(name));
  return days ? account(days) : [];
}

// account returns requests and versions of the last days, by week too, and whether the capture targets can be met.
function account(days) {
  return [
    h('h2', {}, 'Last days'),
    ...days.pace.slice(0, 10).map((b) => notice('', `${b.promise}.`)),
    heat(days.days),
    periods('The last 7 days in UTC; the number of all versions is an estimate', 'day', days.days.slice(-7).toReversed()),
    days.days.length > 7
      ? [
          h('details', {}, h('summary', {}, 'By week'), periods('The last 13 weeks', 'week from Monday', weeks(days.days))),
          h('details', {}, h('summary', {}, 'All days'), periods('All days of the last 13 weeks', 'day', days.days.toReversed())),
        ]
      : null,
  ];
}

// daysPage shows how many versions of which sites were captured in the last days and weeks.
export async function daysPage(again, query) {
  const sites = sitesOf(query);
  const n = query.get('days') || '7';
  const of = new URLSearchParams(sites);
  const [all, some] = await Promise.all([ask('reports/days?brief=true&days=92&' + of), n === '92' ? null : ask(`reports/days?brief=true&days=${n}&` + of)]);
  const shown = some || all;
  const choice = ([value, text]) => h('option', { value, selected: value === n }, text);
  return [
    h('h1', {}, 'Captured versions'),
    reports('days', sites),
    account({ ...all, pace: [] }),
    h('h2', {}, 'Sites'),
    h(
      'form',
      { class: 'row' },
      h('label', {}, 'Period', h('select', { onchange: (e) => goTo('days', { ...sites, days: e.target.value }) }, [['1', 'today'], ['7', '7 days'], ['28', '4 weeks'], ['92', '13 weeks']].map(choice))),
    ),
    table(
      'Most missed versions first; the number of all versions is an estimate',
      [
        ['host', (r) => hostLink(r.host)],
        ['requests', (r) => count(r.requests)],
        ['versions captured', (r) => count(r.versions_seen)],
        ['of about', (r) => count(Math.round(r.versions_estimated))],
        ['share', shareOf],
        ['requests per version', (r) => (r.versions_seen ? r.requests_per_version.toFixed(1) : '–')],
      ],
      shown.hosts.slice(0, 200),
      'No visits in this period.',
    ),
    shown.hosts.length > 200 ? h('p', {}, 'The first 200 sites are shown. The command arcrawl report days shows all.') : null,
    h('h2', {}, 'Targets not met'),
    table('Sites whose pace is too slow for their capture target', [['host', (r) => hostLink(r.host)], ['what would help', (r) => r.promise, 'wide']], all.pace.slice(0, 50), 'All capture targets can be met.'),
  ];
}
