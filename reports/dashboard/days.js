// Requests and versions of days and weeks: of one host on its page, and of all sites as a report.
import { h, svg, ask, optional, count, plural, percent, hostLink, notice, table, sitesOf, siteForm, goTo } from './page.js';

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

// heat shows the versions of each day as a calendar: a column for each week, a row for each day of the week.
function heat(list) {
  if (!list.length) return null;
  const known = new Map(list.map((r) => [r.day, r]));
  const most = Math.max(1, ...list.map((r) => r.versions_seen));
  const last = Date.parse(list.at(-1).day);
  const weekday = (t) => (new Date(t).getUTCDay() + 6) % 7;
  const first = last - (12 * 7 + weekday(last)) * 86400e3;
  const cells = weekdays.map((name, i) => svg('text', { x: 0, y: 28 + i * 17 }, name));
  let month = -1;
  for (let t = first, i = 0; t <= last; t += 86400e3, i++) {
    const day = new Date(t).toISOString().slice(0, 10);
    const [x, y] = [34 + Math.floor(i / 7) * 17, 17 + (i % 7) * 17];
    const now = new Date(t).getUTCMonth();
    if (now !== month && i % 7 === 0 && (month < 0 ? new Date(t).getUTCDate() < 15 : true)) cells.push(svg('text', { x, y: 11 }, months[now].slice(0, 3)));
    if (i % 7 === 0) month = now;
    const r = known.get(day);
    const level = !r || !r.versions_seen ? 0 : 1 + Math.min(3, Math.floor((3 * r.versions_seen) / most));
    const cell = svg('rect', { x, y, width: 14, height: 14, rx: 3, class: r ? 'heat' + level : 'heatless' });
    const name = `${weekdays[i % 7]}, ${Number(day.slice(8))} ${months[now]}`;
    cell.append(svg('title', {}, r ? `${name}: ${plural(r.versions_seen, 'change')}, ${plural(r.requests, 'request')}` : `${name}: no visits`));
    cells.push(cell);
  }
  const text = `Changes captured on each day of the last 13 weeks, without first captures; at most ${count(most)} on a day.`;
  return h('figure', {}, svg('svg', { viewBox: '0 0 255 136', class: 'heat', role: 'img', 'aria-label': text }, ...cells), h('figcaption', { class: 'more' }, text));
}

// shareOf returns the captured share of a day, with the bounds that the true share probably has.
function shareOf(r) {
  if (!r.versions_seen) return '–';
  if (r.share_unknown) return r.share_unknown;
  const share = percent(r.versions_seen, r.versions_estimated);
  return r.share_high ? `${share} (${percent(r.share_low, 1)} to ${percent(r.share_high, 1)})` : share;
}

// about returns the estimated number of all versions, if anything bounds it.
const about = (r) => (r.share_unknown ? '–' : count(Math.round(r.versions_estimated)));

// periods returns a table of days or weeks.
const periods = (caption, heading, rows) =>
  table(
    caption,
    [
      [heading, (r) => r.day, 'left'],
      ['requests', (r) => count(r.requests)],
      ['changes captured', (r) => count(r.versions_seen)],
      ['of about', about],
      ['share', shareOf, 'wide'],
      ['requests per change', (r) => (r.versions_seen ? r.requests_per_version.toFixed(1) : '–')],
    ],
    rows,
    'No data yet.',
  );

// daysOf returns the versions of one host as a calendar, what is promised of it, and tables with its numbers.
export async function daysOf(name) {
  const known = await optional('reports/days?days=92&host=' + encodeURIComponent(name));
  return known && { promises: known.pace.slice(0, 10).map((b) => notice('', `${b.promise}.`)), calendar: heat(known.days), tables: h('details', {}, h('summary', {}, 'Requests and changes by day and week'), tables(known)) };
}

// tables returns requests and versions of the last days, and by week.
const tables = (known) => [
  periods('The last 7 days in UTC, without first captures; the number of all changes is an estimate', 'day', known.days.slice(-7).toReversed()),
  known.days.length > 7
    ? [
        h('details', {}, h('summary', {}, 'By week'), periods('The last 13 weeks', 'week from Monday', known.weeks.toReversed())),
        h('details', {}, h('summary', {}, 'All days'), periods('All days of the last 13 weeks', 'day', known.days.toReversed())),
      ]
    : null,
];

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
    siteForm(sites, (change) => goTo('days', { ...sites, ...change })),
    heat(all.days),
    tables(all),
    h('h2', {}, 'Sites'),
    h(
      'form',
      { class: 'row' },
      h('label', {}, 'Period', h('select', { onchange: (e) => goTo('days', { ...sites, days: e.target.value }) }, [['1', 'today'], ['7', '7 days'], ['28', '4 weeks'], ['92', '13 weeks']].map(choice))),
    ),
    table(
      'Most missed changes first, without first captures; the number of all changes is an estimate',
      [
        ['site', (r) => hostLink(r.host)],
        ['requests', (r) => count(r.requests)],
        ['changes captured', (r) => count(r.versions_seen)],
        ['of about', about],
        ['share', shareOf, 'wide'],
        ['requests per change', (r) => (r.versions_seen ? r.requests_per_version.toFixed(1) : '–')],
      ],
      shown.hosts.slice(0, 200),
      'No visits in this period.',
    ),
    shown.hosts.length > 200 ? h('p', {}, 'The first 200 sites are shown. The command arcrawl report days shows all.') : null,
    h('h2', {}, 'Targets not met'),
    table('Sites whose pace is too slow for their capture target', [['site', (r) => hostLink(r.host)], ['what would help', (r) => r.promise, 'wide']], all.pace.slice(0, 50), all.hosts.some((r) => r.share_unknown) ? 'Not known yet of all sites: see the shares.' : 'All capture targets can be met.'),
  ];
}
