// The overview: state of the crawl, delays, disk space, unreachable hosts, visits in progress.
import {
  h,
  ask,
  count,
  plural,
  last,
  bytes,
  span,
  percent,
  moment,
  when,
  near,
  hostLabel,
  hostLink,
  stateWords,
  uriLink,
  tile,
  table,
  notice,
  button,
  sitesOf,
  siteForm,
  goTo,
  lead,
  confirmed,
} from './page.js';
import { chart } from './charts.js';

let chosen = ''; // the period of the charts that the user has chosen

// period returns the period to show. A crawl that has just started is shown in steps of seconds.
const period = (status) => chosen || (status.uptime_seconds < 1800 ? '10m' : '1d');

export async function overview(again, query) {
  const status = await ask('status');
  const sites = sitesOf(query);
  const some = Object.keys(sites).length > 0;
  const of = String(new URLSearchParams(sites));
  const [series, backlog, late, down, part] = await Promise.all([
    some ? null : ask('series?span=' + period(status)),
    ask('overdue?by=host&latest=true&' + of),
    ask('hosts?state=overdue&sort=overdue&limit=10'),
    ask('hosts?state=down&sort=failures&limit=10&' + of),
    some ? ask('status/sites?' + of) : null,
  ]);
  if (query.get('to') === 'alarms') lead('alarm');
  return [
    h('div', { class: 'title' }, h('h1', { id: 'headline' }, headline(status, late.hosts)), h('div', { class: 'row' }, some ? null : orders(status, again))),
    siteForm(sites, (change) => goTo('operations', { ...sites, ...change })),
    troubles({ ...status, alarms: (part || status).alarms }, again),
    some ? partTiles(part) : [tiles(status), nodes(((status.wings || {}).cluster || {}).nodes || []), h('h2', {}, 'Over time'), spans(period(status), again), charts(series)],
    h('h2', {}, 'Overdue sites'),
    overdue(backlog),
    h('h2', {}, 'Unreachable sites'),
    hosts('Sites that rest because they were unreachable', down.hosts, 'All sites were reachable at the last visit.'),
    h('h2', {}, 'Visits in progress'),
    visits((part || status.workers).visits),
  ];
}

const condition = (s) => s.condition.state + (s.condition.why ? ': ' + s.condition.why : '');

// nodes shows the nodes of a cluster, and what concerns each of them alone.
const nodes = (list) =>
  list.length
    ? [
        h('h2', {}, 'Nodes'),
        table(
          'Nodes that crawl a part of the sites',
          [
            ['node', (n) => n.node, 'left'],
            ['state', condition, 'wide'],
            ['since (UTC)', (n) => moment(n.since)],
            ['disk free', (n) => bytes(n.disk.free)],
            ['stores', (n) => bytes(n.archive.store)],
            ['configuration', (n) => n.config.slice(0, 19) + (n.faults ? ', ' + plural(n.faults, 'fault') : ''), 'left'],
          ],
          list,
        ),
      ]
    : null;

// partTiles shows the state of the sites that are chosen.
const partTiles = (p) =>
  h(
    'div',
    { class: 'tiles' },
    tile('Sites', count(p.hosts.known), p.hosts.down ? `${count(p.hosts.down)} unreachable` : 'all reachable', p.hosts.down ? 'warn' : ''),
    tile('URIs', count(p.uris.known), count(p.uris.forbidden) + ' forbidden by robots.txt'),
    tile('Longest overdue', span(p.uris.overdue_seconds), plural(p.busy, 'visit') + ' in progress', p.uris.overdue_seconds > 3600 ? 'warn' : 'good'),
    tile('Requests today', count(p.today.requests), 'since 0:00 UTC'),
    tile('Changes today', count(p.today.versions_seen), p.today.share_unknown || 'of about ' + count(Math.round(p.today.versions_estimated))),
  );

let lately = []; // the hosts that were overdue when the page was last built

// headline returns the state of the crawl in one sentence. It ignores the delays of unreachable hosts.
export function headline(s, late = lately) {
  lately = late;
  const worst = late.find((host) => !host.failures);
  if (s.condition.state === 'paused') return 'The crawl is paused' + (s.condition.why ? ': ' + s.condition.why : '');
  if (s.condition.state === 'held') return 'The crawl has stopped: ' + s.condition.why;
  if (s.condition.why) return 'Crawling in part: ' + s.condition.why;
  if (worst && worst.overdue_seconds > 3600) return `Crawling, ${span(worst.overdue_seconds)} late on ${hostLabel(worst.host)}`;
  return 'Crawling';
}

function troubles(s, again) {
  const list = [];
  if (s.condition.since)
    list.push(
      notice(
        s.condition.state === 'held' ? 'bad' : '',
        `No visits since ${when(s.condition.since)}.`,
        s.condition.until && s.condition.state === 'paused' ? ` The crawl resumes at ${when(s.condition.until)}.` : '',
      ),
    );
  list.push(...alarms(s.alarms, again));
  if (s.config.faults.length)
    list.push(
      notice(
        'bad',
        `The last change of the configuration is not in force: ${plural(s.config.faults.length, 'fault')}. `,
        h('a', { href: '#/config' }, 'Show faults'),
      ),
    );
  return list;
}

// alarms shows the alarms of each kind. Many of one kind, and acknowledged ones, are folded.
function alarms(list, again) {
  const open = Map.groupBy(
    list.filter((a) => !a.acknowledged),
    (a) => a.kind,
  );
  const known = list.filter((a) => a.acknowledged);
  return [
    ...[...open].map(([kind, some], group) => {
      const shown = some.map((a, i) => alarm(a, again, !group && !i));
      return some.length <= 3 ? shown : fold('bad', `${count(some.length)} alarms of kind ${kind}`, shown);
    }),
    known.length ? fold('', `${plural(known.length, 'alarm')} acknowledged`, known.map((a) => alarm(a, again))) : null,
  ];
}

const fold = (kind, title, list) => h('details', { class: 'notice ' + kind }, h('summary', {}, title), list);

// alarm shows an alarm with a link to what it is about, and a button to acknowledge it. The state at the top of each page
// leads to the first one.
function alarm(a, again, first) {
  const by = a.acknowledged;
  const more = by ? ` Acknowledged by ${by.who || 'somebody'}${by.note ? ': ' + by.note : ''}.` : '';
  return h(
    'p',
    { class: 'notice ' + (by ? '' : 'bad'), id: first ? 'alarm' : null, tabindex: first ? '-1' : null },
    a.text,
    h('span', { class: 'more' }, `. Since ${when(a.since)}.${more} `),
    a.about && a.about.includes('://') ? uriLink(a.about) : a.host ? hostLink(a.host) : null,
    ' ',
    button(by ? 'Show again' : 'Acknowledge', () => acknowledge(a), again, null, 'curate'),
  );
}

// acknowledge sends the order for an alarm. It asks for a note, which may be empty.
async function acknowledge(a) {
  const order = { kind: a.kind, about: a.about };
  if (a.acknowledged) return ask('alarms/acknowledge', { ...order, undo: true });
  const note = await confirmed('The alarm stays until its cause is gone. It is not counted at the top any more.', 'Acknowledge', 'Note for others (optional)');
  if (note !== null) await ask('alarms/acknowledge', { ...order, note });
}

const orders = (s, again) =>
  s.condition.state === 'paused'
    ? button('Resume', () => ask('resume', {}), again, null, 'operate')
    : button(
        'Pause the crawl',
        () => ask('pause', { reason: 'from the dashboard' }),
        again,
        'Pause the whole crawl? Visits in progress end normally. A pause survives a restart.',
        'operate',
      );

function tiles(s) {
  const hour = s.last_hour,
    compared = hour.versions + hour.unchanged;
  const full = s.disk.full_in_seconds;
  return h(
    'div',
    { class: 'tiles' },
    tile(
      'Overdue',
      span(s.uris.overdue_seconds),
      s.uris.due < 0 ? 'counting …' : plural(s.uris.due, 'URI') + ' due',
      s.uris.overdue_seconds > 3600 ? 'warn' : 'good',
    ),
    tile('Visits in the last hour', count(hour.visits), count(s.last_minute.visits) + ' in the last minute'),
    tile('Versions in the last hour', count(hour.versions), percent(hour.versions, compared) + ' of visits found one'),
    tile(
      'Failed in the last hour',
      count(hour.failed),
      percent(hour.failed, hour.visits) + ' of visits',
      hour.visits && hour.failed / hour.visits > 0.2 ? 'warn' : '',
    ),
    tile(
      'Bandwidth saved in a day',
      bytes(s.last_day.spared),
      percent(s.last_day.spared, s.last_day.spared + s.last_day.received) + ' of all bytes',
    ),
    tile('Archived in a day', bytes(s.last_day.written), bytes(s.last_day.deduped) + ' already in the archive'),
    tile(
      'Sites',
      count(s.hosts.known),
      s.hosts.down ? `${count(s.hosts.down)} unreachable` : 'all reachable',
      s.hosts.down ? 'warn' : '',
    ),
    tile('URIs', count(s.uris.known), count(s.uris.forbidden) + ' forbidden by robots.txt'),
    tile(
      'Disk free',
      bytes(s.disk.free),
      full === null || full === undefined ? 'pauses below ' + bytes(s.disk.min_free) : 'full in ' + span(full),
      s.disk.free < s.disk.min_free ? 'bad' : full !== null && full < 7 * 86400 ? 'warn' : '',
    ),
    tile('Store', bytes(s.archive.store), plural(s.archive.files.length, 'open archive file')),
    ...(s.archive.fixity.files ? [fixity(s.archive.fixity)] : []),
    ...(s.archive.offload.folders ?? []).map((f) =>
      tile('Free in ' + f.path, bytes(f.free), plural(f.files, 'WARC file') + ', ' + bytes(f.bytes)),
    ),
    ...(s.archive.offload.upload
      ? [
          tile(
            'Uploaded',
            plural(s.archive.offload.upload.done, 'WARC file'),
            s.archive.offload.upload.since
              ? 'failing: ' + s.archive.offload.upload.error
              : count(s.archive.offload.upload.waiting) + ' waiting',
            s.archive.offload.upload.since ? 'bad' : '',
          ),
        ]
      : []),
    tile('Workers', `${count(s.workers.busy)} of ${count(s.workers.all)}`, 'visits in progress'),
    tile('Up', span(s.uptime_seconds), 'since ' + moment(s.started)),
  );
}

// fixity shows how long ago the WARC file was read whose last check is oldest, and how many differ.
function fixity(f) {
  const age = (t) => span((Date.now() - new Date(t)) / 1000);
  return tile(
    'Fixity',
    f.failed ? plural(f.failed, 'file') + ' not as sealed' : 'all as sealed',
    f.error
      ? 'not checked: ' + f.error
      : plural(f.files, 'WARC file') + ', each read in the last ' + age(f.oldest) + (f.last ? '; the last check ' + age(f.last) + ' ago' : ''),
    f.failed || f.error ? 'bad' : '',
  );
}

function spans(shown, again) {
  return h(
    'div',
    { class: 'row', role: 'group', 'aria-label': 'Period' },
    [
      ['10m', '10 minutes'],
      ['1h', 'an hour'],
      ['1d', 'a day'],
      ['7d', 'a week'],
      ['90d', '90 days'],
    ].map(([value, name]) =>
      h(
        'button',
        {
          type: 'button',
          'aria-pressed': String(value === shown),
          onclick: () => {
            chosen = value;
            again();
          },
        },
        value === shown ? h('strong', {}, name) : name,
      ),
    ),
  );
}

function charts(s) {
  if (!s.times.length) return h('p', { class: 'panel' }, 'No data yet.');
  const v = s.values,
    step = s.step_seconds;
  return h(
    'div',
    { class: 'charts' },
    chart(step, 'Longest overdue URI', s.times, [['overdue', v.overdue, '--c2']], span),
    chart(step, 'URIs due', s.times, [['due', v.due, '--c2']]),
    chart(
      step,
      'Results of visits',
      s.times,
      [
        ['versions', v.versions, '--c1'],
        ['unchanged', v.unchanged, '--c3'],
        ['failed', v.failed, '--c4'],
      ],
      count,
      true,
    ),
    chart(
      step,
      'Bytes',
      s.times,
      [
        ['received', v.received, '--c1'],
        ['not transferred', v.spared, '--c3'],
        ['not stored again', v.deduped, '--c2'],
      ],
      bytes,
      true,
    ),
    chart(step, 'Disk free', s.times, [['free', v.disk_free, '--c1']], bytes),
    chart(step, 'Known URIs', s.times, [['known', v.uris, '--c1']]),
  );
}

// overdue shows the sites with due URIs, and when their backlogs will clear.
function overdue(backlog) {
  if (backlog.as_of.startsWith('0001')) return h('p', { class: 'panel' }, 'The URIs are being counted for the first time.');
  return table(
    `Counted ${span(backlog.age_seconds)} ago`,
    [
      ['site', (r) => hostLink(r.name)],
      ['due', (r) => `${count(r.due)} of ${count(r.uris)}`],
      ['longest', (r) => span(r.max_seconds)],
      ['median', (r) => span(r.p50_seconds)],
      ['wanted per hour', (r) => count(Math.round(r.demand_per_hour))],
      ['possible per hour', (r) => count(Math.round(r.capacity_per_hour))],
      ['backlog ends', (r) => [r.ends || '–', (r.endless || []).map((e) => h('div', {}, h('code', {}, e.path), ` may be endless: ${plural(e.uris, 'URI')}, ${count(e.waiting)} never visited`))], 'wide'],
    ],
    backlog.rows.filter((r) => r.due > 0).slice(0, 15),
    'Nothing is overdue.',
  );
}

// hostState says how a site is, and why it could not be reached.
const hostState = (r) =>
  r.failures
    ? [h('span', { class: 'bad' }, `unreachable at the ${last(r.failures, 'visit')}`), h('div', { class: 'more' }, r.last_error)]
    : stateWords[r.state] || r.state;

export function hosts(caption, list, empty, fixed) {
  return table(
    caption,
    [
      ['site', (r) => hostLink(r.host, r.about?.title), 'wide'],
      ['state', hostState, list.some((r) => r.failures) ? 'wide' : 'left'],
      ['URIs', (r) => count(r.uris)],
      ['overdue', (r) => span(r.overdue_seconds)],
      ['next visit', (r) => near(r.ready, 'late')],
    ],
    list,
    empty,
    fixed,
  );
}

function visits(list) {
  return table(
    'Longest first',
    [
      ['URI', (v) => uriLink(v.uri), 'wide'],
      ['for', (v) => span(v.seconds)],
    ],
    list.slice(0, 20),
    'No visit in progress.',
  );
}
