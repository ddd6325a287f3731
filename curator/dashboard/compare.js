// The page that compares two versions of a URI. All texts come from archived pages: they are only ever text.
import { h, ask, count, optional, plural, moment, notice, uriLink } from './page.js';
import { added } from './register.js';

const kinds = { text: 'Text', source: 'Source', headers: 'Response header' };

export async function comparePage(again, wanted) {
  const uri = wanted.get('u') || '';
  const what = wanted.get('what') || 'text';
  const inline = wanted.has('as') ? wanted.get('as') === 'inline' : innerWidth < 760;
  const q = new URLSearchParams({ uri, before: wanted.get('before') || '', at: wanted.get('at') || '', what });
  const [c, known] = await Promise.all([ask('compare?' + q), optional('versions?uri=' + encodeURIComponent(uri))]);
  const link = (changes) => {
    const to = new URLSearchParams({ u: uri, before: c.before.at, at: c.after.at, what, as: inline ? 'inline' : 'sides' });
    for (const [key, value] of Object.entries(changes)) to.set(key, value);
    return '#/compare?' + to;
  };
  const choice = (name, on, changes) =>
    h('a', { class: 'button', href: link(changes), 'aria-current': on ? 'true' : null }, name);
  // version lets a user choose one of the two versions, of those before or after another one.
  const version = (name, key, v, fits) => {
    const others = (known?.versions || []).filter((o) => o.at !== v.at && fits(o.at));
    const option = (o) => h('option', { value: o.at, selected: o.at === v.at }, moment(o.date) + (o.changed ? '' : ', the same'));
    const list = [v, ...others].sort((a, b) => (a.at < b.at ? 1 : -1));
    return h('label', {}, name, h('select', { onchange: (e) => (location.hash = link({ [key]: e.target.value }).slice(1)) }, list.map(option)));
  };
  const place = h('div', {}); // of the panel that ignores a part
  const [summary, rows] = [h('div', {}), h('div', {})];
  const lines = c.what !== 'picture' && !c.problem;
  const draw = (c) => {
    c.saved = () => withNewRules(c, draw, place);
    summary.replaceChildren(...[result(c), rules(c), embeds(c)].filter(Boolean));
    rows.replaceChildren(...(c.rows.length ? [inline ? inlineTable(c, place) : sideTable(c, place)] : []));
  };
  if (lines) draw(c);
  return [
    h('h1', {}, 'Comparison'),
    h('p', { class: 'long' }, uriLink(c.uri)),
    h(
      'div',
      { class: 'row' },
      version('Earlier version (UTC)', 'before', c.before, (at) => at < c.after.at),
      version('Later version (UTC)', 'at', c.after, (at) => at > c.before.at),
      h('a', { class: 'button', href: c.before.links.view }, 'View the earlier'),
      h('a', { class: 'button', href: c.after.links.view }, 'View the later'),
    ),
    h(
      'div',
      { class: 'row versions', role: 'navigation', 'aria-label': 'What is compared' },
      Object.entries(kinds).map(([kind, name]) => choice(name, kind === what, { what: kind })),
      lines ? [choice('Side by side', !inline, { as: 'sides' }), choice('Inline', inline, { as: 'inline' })] : null,
    ),
    c.problem ? notice('warn', c.problem) : null,
    (c.notes || []).map((text) => notice('', text)),
    c.what === 'picture' ? pictures(c) : null,
    summary,
    place,
    rows,
  ];
}

// withNewRules compares again until the daemon has read a rule that was saved, for at most 15 seconds.
async function withNewRules(c, draw, place) {
  const q = new URLSearchParams({ uri: c.uri, before: c.before.at, at: c.after.at, what: c.what });
  for (let tries = 0; tries < 15 && place.isConnected; tries++) {
    const newer = await ask('compare?' + q);
    if (newer.rows && JSON.stringify(newer.rules) !== JSON.stringify(c.rules)) return draw(newer);
    await new Promise((next) => setTimeout(next, 1000));
  }
}

// result says how much differs.
function result(c) {
  const hidden = c.hidden ? ` ${plural(c.hidden, 'part')} hidden by the rules of the site, in grey, do not count.` : '';
  return h('p', {}, (c.changed === 1 ? '1 line differs.' : c.changed ? plural(c.changed, 'line') + ' differ.' : 'No line differs.') + hidden);
}

// embeds lists what the page shows that changed too.
function embeds(c) {
  if (!c.embeds) return null;
  return h(
    'div',
    {},
    h('p', {}, `What the page shows changed too, in ${plural(c.embeds.length, 'file')}:`),
    h('ul', { class: 'rules' }, c.embeds.map((e) => h('li', {}, h('a', { href: e.compare }, e.uri), h('span', { class: 'more' }, ' ' + (e.type || ''))))),
  );
}

// rules lists the scrubbing rules that hide parts, with their numbers.
function rules(c) {
  if (!c.rules) return null;
  return h(
    'ul',
    { class: 'rules' },
    c.rules.map((rule, i) => h('li', {}, h('span', { class: 'scrubbed' }, `rule ${i + 1}`), ' ', h('code', {}, rule))),
  );
}

// line returns the parts of a line. Differences are del and ins elements, so that they need no color.
function line(l, mark) {
  if (!l) return null;
  return l.parts.map((p) => {
    if (p.rule) return h('span', { class: 'scrubbed' }, h('bdi', {}, p.text), h('sup', {}, `rule ${p.rule}`));
    return p.differs ? h(mark, {}, h('bdi', {}, p.text)) : h('bdi', {}, p.text);
  });
}

const whole = (l, mark) => h(mark, {}, h('bdi', {}, l.parts.map((p) => p.text).join('')));
const number = (l) => h('td', { class: 'number' }, l ? count(l.number) : '');
const folded = (r, columns) =>
  h('tr', { class: 'folded' }, h('td', { colspan: columns }, plural(r.folded, 'unchanged line')));

function frame(caption, kind, headings, rows) {
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h(
      'table',
      { class: 'compare ' + kind },
      h('caption', {}, caption),
      h('thead', {}, h('tr', {}, headings.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, rows),
    ),
  );
}

// ignored is the cell of a row with the button that turns its difference into a rule.
const ignored = (c, r, place) => h('td', { class: 'ignored' }, r && c.what !== 'headers' ? (added.parts.difference || []).map((part) => part(c, r, place)) : '');

function sideTable(c, place) {
  const cell = (r, l, mark) =>
    h('td', { class: l && r.kind !== 'same' ? mark : null }, l && (r.kind === 'removed' || r.kind === 'added') ? whole(l, mark) : line(l, mark));
  return frame(
    'Both versions side by side',
    'sides',
    ['line', moment(c.before.date), 'line', moment(c.after.date), 'ignore'],
    c.rows.map((r) =>
      r.kind === 'folded'
        ? folded(r, 5)
        : h(
            'tr',
            {},
            number(r.left),
            cell(r, r.left, 'del'),
            number(r.right),
            cell(r, r.right, 'ins'),
            ignored(c, r.kind === 'same' ? null : r, place),
          ),
    ),
  );
}

function inlineTable(c, place) {
  const row = (sign, l, mark, all, r) =>
    h('tr', {}, number(l), h('td', {}, sign), h('td', { class: mark }, all ? whole(l, mark) : line(l, mark)), ignored(c, r, place));
  const rows = (r) => {
    if (r.kind === 'folded') return folded(r, 4);
    if (r.kind === 'same') return row('', r.right, null, false);
    const all = r.kind !== 'changed';
    const last = r.right ? null : r; // one button for both rows
    return [r.left ? row('−', r.left, 'del', all, last) : null, r.right ? row('+', r.right, 'ins', all, r) : null];
  };
  return frame('Both versions in one column: − was removed, + was added', 'inline', ['line', '+ −', 'text', 'ignore'], c.rows.map(rows).flat().filter(Boolean));
}

function pictures(c) {
  const picture = (v) =>
    h(
      'figure',
      {},
      h('img', { src: '/api/v1/picture?' + new URLSearchParams({ uri: c.uri, at: v.at }), alt: 'The version of ' + moment(v.date) }),
      h('figcaption', {}, moment(v.date)),
    );
  return [
    h('p', {}, c.changed ? 'The pictures differ.' : 'The pictures are the same, byte for byte.'),
    h('div', { class: 'pictures' }, picture(c.before), picture(c.after)),
  ];
}
