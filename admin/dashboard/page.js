// Shared parts of all pages: elements, numbers for people, requests to the API.

// h creates an element. Attributes that begin with "on" are listeners. Children may be nested; null children are left out.
export function h(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? '' : value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// svg creates an SVG element.
export function svg(name, attributes = {}, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// ahead is the difference between the daemon's clock and ours, in ms.
let ahead = 0;

// left holds what answers leave out of a crawl of several nodes, with the requests that they answer.
const left = new Map();

// leftOut returns notices about what the answers since the last call leave out.
export function leftOut() {
  const list = [...left].map(([text, requests]) => notice('', `Not of the whole crawl (${[...requests].join(', ')}): ${text}`));
  left.clear();
  return list;
}

// ask sends a request to the API and returns the answer. It throws the daemon's error text.
export async function ask(path, order) {
  const request = { headers: { Accept: 'application/json' } };
  if (order !== undefined) {
    request.method = 'POST';
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(order);
  }
  let answer;
  try {
    answer = await fetch(new URL('/api/v1/' + path, location.origin), request);
  } catch {
    throw new Error('The daemon does not answer. Is it running? See systemctl status arcrawl.');
  }
  const date = Date.parse(answer.headers.get('Date'));
  if (date) ahead = date - Date.now();
  const missing = answer.headers.get('Arcrawl-Missing');
  if (missing) left.set(missing, (left.get(missing) || new Set()).add(path.split('?')[0]));
  const text = await answer.text();
  let value = {};
  try {
    value = text ? JSON.parse(text) : {};
  } catch {
    /* reported below */
  }
  if (answer.status === 401) {
    // The session has ended: leave the page, unless somebody has written a text that would be lost.
    if (![...document.querySelectorAll('#view textarea:not([readonly])')].some((area) => area.value.trim())) location.assign('/login' + location.hash);
    else throw Object.assign(new Error('The session has ended. Sign in on another tab, and repeat it here: the text on this page stays.'), { status: 401 });
  }
  if (!answer.ok)
    throw Object.assign(new Error(value.error || `${answer.status} ${answer.statusText}`), { status: answer.status });
  if (path === 'status') dispatchEvent(new CustomEvent('status', { detail: value }));
  return value;
}

// optional returns an answer, or null if the daemon has none.
export async function optional(path) {
  try {
    return await ask(path);
  } catch (e) {
    if (e.status === 404 || e.status === 400) return null;
    throw e;
  }
}

// stateWords are the states of a site as a screen shows them.
export const stateWords = { ready: 'ready', busy: 'visited now', snoozed: 'resting', idle: 'nothing to visit', paused: 'paused' };

export const count = (n) => (n === undefined || n === null || n < 0 ? '–' : n.toLocaleString('en'));

// plural returns a count with its noun: 1 fault, 2 faults.
export const plural = (n, noun, nouns = noun + 's') => count(n) + ' ' + (n === 1 ? noun : nouns);
export const last = (n, noun) => 'last ' + (n === 1 ? noun : plural(n, noun));

export function bytes(n) {
  if (n === undefined || n === null || n < 0) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let i = 0;
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1000;
  return (i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)) + ' ' + units[i];
}

// span formats seconds in their two largest units.
export function span(seconds) {
  if (seconds === undefined || seconds === null || seconds < 0) return '–';
  const units = [
    ['d', 86400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ];
  for (let i = 0; i < units.length - 1; i++) {
    const [name, size] = units[i];
    if (seconds >= size) {
      const [small, smallSize] = units[i + 1];
      const rest = Math.floor((seconds % size) / smallSize);
      return Math.floor(seconds / size) + ' ' + name + (rest ? ' ' + rest + ' ' + small : '');
    }
  }
  return (seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)) + ' s';
}

// inWords says how often a page changes and is visited, and which share of its versions is thought to be missed. While
// each visit found a version, the page may change any number of times more often than it was visited.
export function inWords(page) {
  const { rate_per_day: perDay, wait_seconds: wait, visits, versions } = page;
  if (!perDay || !wait) return '';
  if (visits <= versions) return `visited every ${span(wait)}; not known yet how often it changes: ${visits === 1 ? 'one visit so far' : 'every visit found a change'}`;
  const expected = (perDay * wait) / 86400; // changes between two visits
  const missed = 1 - (1 - Math.exp(-expected)) / expected;
  const often = perDay >= 1 ? `${perDay.toFixed(1)} changes a day` : `a change every ${span(86400 / perDay)}`;
  const enough = (0.207 / perDay) * 86400; // s: between such visits, a tenth of the versions is missed
  const better = missed > 0.15 ? `; with a visit every ${span(enough)} it would be 10 %` : '';
  return `${often}, visited every ${span(wait)}: about ${(100 * missed).toFixed(0)} % of versions are missed${better}`;
}

export const percent = (part, all) => (all > 0 ? ((100 * part) / all).toFixed(1) + ' %' : '–');

const zero = (t) => !t || t.startsWith('0001-');

// moment formats a time of the API, in UTC like all logs.
export const moment = (t) => (zero(t) ? '–' : t.slice(0, 10) + ' ' + t.slice(11, 19));

// when formats a time of the API and its distance from now.
export function when(t) {
  if (zero(t)) return '–';
  const away = (new Date(t) - Date.now() - ahead) / 1000;
  if (Math.abs(away) < 1) return moment(t) + ' (now)'; // the daemon reports its clock in whole seconds
  return moment(t) + (away > 0 ? ` (in ${span(away)})` : ` (${span(-away)} ago)`);
}

// near shows how far a time of the API is away. late is the word for a time that has passed.
export function near(t, late = 'ago') {
  if (zero(t)) return '–';
  const away = (new Date(t) - Date.now() - ahead) / 1000;
  const text = Math.abs(away) < 1 ? 'now' : away > 0 ? 'in ' + span(away) : `${span(-away)} ${late}`;
  return h('time', { datetime: t, title: moment(t) + ' UTC' }, text);
}

// names holds the hosts that are shown differently: in Unicode, or marked because their file was removed.
let names = {};
let groups = {}; // labels, collections and owners in use
export const knowGroups = (all) => (groups = all);
export const loadNames = async () => {
  try {
    const known = await ask('names');
    names = known.hosts;
    knowGroups(known.sites || {});
  } catch {
    // The rest of the page says that there is no answer.
  }
};

// hostLabel shows an internationalized name in Unicode, with the name of the network behind it.
export const hostLabel = (host) => (names[host]?.unicode ? `${names[host].unicode} (${host})` : host);
// hostLink leads to the page of a site. A title is shown before its host.
export const hostLink = (host, title) => {
  const link = (text, attributes) => h('a', { href: '#/host/' + encodeURIComponent(host), ...attributes }, text);
  const removed = names[host]?.removed ? ', removed' : '';
  return title ? [link(title, { class: 'name', dir: 'auto' }), h('div', { class: 'more' }, hostLabel(host), removed)] : [link(hostLabel(host)), removed];
};

// sitesOf returns which sites an address chooses: by label, collection and owner.
export const sitesOf = (query) => Object.fromEntries(['label', 'collection', 'owner'].map((k) => [k, query.get(k)]).filter(([, name]) => name));

// siteFields returns fields that choose sites. Fields without names to choose are left out. go is called with the change.
export const siteFields = (chosen, go) =>
  Object.entries({ label: 'Label', collection: 'Collection', owner: 'Owner' }).map(([key, title]) => {
    const list = [...new Set([...(groups[key + 's'] || []), ...(chosen[key] ? [chosen[key]] : [])])];
    if (!list.length) return null;
    const option = (name, text) => h('option', { value: name, selected: name === (chosen[key] || '') }, text);
    return h('label', {}, title, h('select', { name: key, onchange: (e) => go({ [key]: e.target.value }) }, option('', 'all'), list.map((n) => option(n, n))));
  });

// siteForm returns a form with these fields, if there is any.
export function siteForm(chosen, go) {
  const fields = siteFields(chosen, go).filter(Boolean);
  return fields.length ? h('form', { class: 'row' }, fields) : null;
}

// goTo changes the address of a page: its name, and the parameters that are not empty.
export const goTo = (page, parameters) => {
  const set = Object.entries(parameters).filter(([, value]) => value);
  location.hash = '#/' + page + (set.length ? '?' + new URLSearchParams(set) : '');
};

let led = ''; // the address whose page has led to an element

addEventListener('hashchange', () => (led = ''));

// lead takes a reader to an element of the page, once after the address has changed.
export function lead(id) {
  if (led === location.hash) return;
  led = location.hash;
  requestAnimationFrame(() => {
    const e = document.getElementById(id);
    for (let d = e?.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    e?.scrollIntoView({ block: 'center' });
    e?.focus({ preventScroll: true });
  });
}

// uriLink leads to the page of a URI. A title is shown before the URI.
export const uriLink = (uri, title) => {
  const link = (text, attributes) => h('a', { href: '#/uri?u=' + encodeURIComponent(uri), ...attributes }, text);
  return title ? [link(title, { class: 'name', dir: 'auto' }), h('div', { class: 'more' }, uri)] : link(uri);
};

export function tile(name, value, more, kind) {
  return h(
    'dl',
    { class: 'tile' },
    h('dt', {}, name),
    h('dd', { class: kind }, value),
    more ? h('dd', { class: 'more' }, more) : null,
  );
}

// sorted holds how users sorted tables: [column, direction] by the caption without numbers.
const sorted = new Map();

// keyOf returns what identifies a caption or summary although its numbers change.
export const keyOf = (text) => text.replace(/[0-9][0-9.,:]*/g, '#');

// worth returns a number to sort a cell by, or its text.
function worth(cell) {
  const time = cell.querySelector('time');
  if (time) return Date.parse(time.dateTime);
  const text = cell.textContent.trim();
  if (/^(–|)$/.test(text)) return -Infinity;
  if (/^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(text)) return Date.parse(text.slice(0, 19).replace(' ', 'T') + (text.length > 10 ? 'Z' : ''));
  const spans = { d: 86400, h: 3600, m: 60, s: 1 };
  const units = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15 };
  const parts = [...text.matchAll(/(-?[0-9][0-9,]*(?:\.[0-9]+)?) ?([A-Za-z]+)?/g)];
  if (!parts.length || !/^[-0-9]/.test(text)) return text.toLowerCase();
  const number = ([, digits]) => Number(digits.replaceAll(',', ''));
  if (parts[0][2] in spans) return parts.reduce((sum, p) => sum + number(p) * (spans[p[2]] || 0), 0);
  return number(parts[0]) * (units[parts[0][2]] || 1);
}

const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1);

// table creates a table; a column is [heading, cell of a row, class]. Its rows are sorted by a click on a heading. The rows
// of a fixed table are one page of many, and keep their order.
export function table(caption, columns, rows, empty = 'None.', fixed = false) {
  if (!rows.length) return h('p', { class: 'panel' }, empty);
  const key = location.hash.split('?')[0] + ' ' + keyOf(caption) + ' ' + columns.map(([heading]) => heading).join();
  const lines = rows.map((row) => {
    const cells = columns.map(([, cell, kind]) => h('td', { class: kind }, cell(row)));
    return { line: h('tr', {}, cells), cells };
  });
  const body = h('tbody', {}, lines.map((l) => l.line));
  const heads = columns.map(([heading, , kind], i) =>
    h(
      'th',
      { scope: 'col', class: kind },
      fixed || rows.length < 2 || !heading ? heading || h('span', { class: 'unseen' }, 'choose') : h('button', { type: 'button', class: 'sort', onclick: () => turn(i) }, heading),
    ),
  );
  const apply = () => {
    const [column, direction] = sorted.get(key) || [];
    if (column === undefined || fixed) return;
    const order = lines.map((l) => [worth(l.cells[column]), l.line]);
    order.sort((a, b) => direction * compare(a[0], b[0]));
    body.replaceChildren(...order.map(([, line]) => line));
    heads.forEach((th, i) => {
      if (i === column) th.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
      else th.removeAttribute('aria-sort');
    });
  };
  const turn = (i) => {
    const [column, direction] = sorted.get(key) || [];
    sorted.set(key, [i, column === i ? -direction : typeof worth(lines[0].cells[i]) === 'number' ? -1 : 1]);
    apply();
  };
  apply();
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', {}, h('caption', {}, h('span', {}, caption)), h('thead', {}, h('tr', {}, heads)), body),
  );
}

export function pairs(list) {
  return h(
    'dl',
    { class: 'pairs' },
    list.filter(Boolean).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
  );
}

export const notice = (kind, ...text) => h('p', { class: 'notice ' + kind }, ...text);

// committed says whether a change of files is in the git repository.
export const committed = (done) =>
  done.committed?.problem
    ? notice('bad', `The change is in force, but was not committed: ${done.committed.problem}`)
    : done.committed?.commit
      ? notice('', `Committed as ${done.committed.commit}.`)
      : null;

const ranks = ['read', 'curate', 'operate'];
let rank = ranks.length - 1; // of the one who looks at the page; without an answer the daemon refuses what is not allowed

// knowRole notes the role of the one who looks at the page.
export const knowRole = (role) => (rank = ranks.indexOf(role));

// may reports whether the one who looks at the page may do what needs a role.
export const may = (needs) => rank >= ranks.indexOf(needs);

// needsRole says on a page which role it needs.
export const needsRole = (title, role) => [h('h1', {}, title), notice('', `This page needs the role ${role}. Those with the role operate change roles on the page Users.`)];

// confirmed asks a question in a dialog. It returns true or the text of the field, or null without consent.
export function confirmed(question, action, field) {
  return new Promise((done) => {
    const input = field ? h('input', { name: 'note', maxlength: '500' }) : null;
    const end = (yes) => (e) => {
      e.preventDefault();
      done(!yes ? null : input ? input.value : true);
      dialog.close();
      dialog.remove();
    };
    const dialog = h(
      'dialog',
      { 'aria-label': action, oncancel: end(false) },
      h(
        'form',
        { onsubmit: end(true) },
        h('p', {}, question),
        input ? h('label', {}, field, input) : null,
        h('div', { class: 'row' }, h('button', { class: 'primary' }, action), h('button', { type: 'button', onclick: end(false) }, 'Cancel')),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

// failed shows at the top of the page why an order failed; without a text it removes what is there.
export function failed(text) {
  const place = document.getElementById('problem');
  place.replaceChildren(...(text ? [notice('bad', text, ' ', h('button', { type: 'button', class: 'small', onclick: () => failed() }, 'Close'))] : []));
  if (text) place.scrollIntoView({ block: 'nearest' });
}

// button creates a button that sends an order and then updates the page. If there is a question, it asks first. It
// creates none for those whose role is not enough. A page has one primary button.
export function button(name, order, done, question, needs = 'read', primary = false) {
  if (!may(needs)) return null;
  return h(
    'button',
    {
      type: 'button',
      class: primary ? 'primary' : null,
      async onclick(event) {
        if (question && !(await confirmed(question, name))) return;
        failed();
        event.target.disabled = true;
        try {
          await order();
          await done();
        } catch (e) {
          failed(e.message);
        }
        event.target.disabled = false;
      },
    },
    name,
  );
}
