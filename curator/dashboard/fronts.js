// Front pages in pictures: a calendar, a film strip of a day for each page, and several pages side by side at the same
// time of day. The address has the whole state. All texts come from archived pages: they are only ever text.
import { h, ask, count, goTo, hostLabel, may, moment, notice, plural, siteFields, sitesOf } from './page.js';

const most = 8; // pages that are shown at once
const first = 3; // pages that are shown unless some are chosen

// pictureOf returns the address of the picture of a frame. size is thumb, sheet, or empty for the whole picture.
export const pictureOf = (uri, frame, size) =>
  '/api/v1/picture?' + new URLSearchParams({ uri, at: frame.picture, [frame.late ? 'late' : 'rendered']: 'true', ...(size ? { size } : {}) });

export const clock = (date, seconds) => date.slice(11, seconds ? 19 : 16);
// precise reports whether two frames of a page are of one minute, so that their times have seconds.
export const precise = (frames) => frames.some((f, i) => i && clock(f.date) === clock(frames[i - 1].date));
export const nameOf = (page) => page.title || new URL(page.uri).host.replace(/^www\./, '') + new URL(page.uri).pathname.replace(/^\/$/, '');
const dayName = (day, options) => new Date(day + 'T00:00:00Z').toLocaleDateString('en-GB', { timeZone: 'UTC', ...options });
export const longDay = (day) => dayName(day, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const shift = (day, days) => new Date(Date.parse(day + 'T00:00:00Z') + days * 86400_000).toISOString().slice(0, 10);

// addressOf returns the address of the page with another state. A list of pages is chosen one by one.
function addressOf(state, change) {
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...state, ...change })) for (const v of [value].flat()) if (v) q.append(key === 'pages' ? 'u' : key, v);
  return '#/fronts?' + q;
}

export async function frontsPage(again, wanted) {
  const state = { pages: wanted.getAll('u').slice(0, most), day: wanted.get('day'), month: wanted.get('month'), as: wanted.get('as'), t: wanted.get('t'), ...sitesOf(wanted) };
  const known = await ask('fronts?' + new URLSearchParams(sitesOf(wanted)));
  const pages = state.pages.length ? state.pages : known.pages.slice(0, first).map((p) => p.uri);
  const title = h('h1', {}, 'Front pages');
  if (known.problem) return [title, notice('warn', known.problem)];
  if (!pages.length) return [title, form(state), none(state)];
  const months = await Promise.all(pages.map((uri) => ask('fronts/month?' + new URLSearchParams({ uri, month: state.month || (state.day || '').slice(0, 7) }))));
  const day = state.day || months.map((m) => m.last).sort().at(-1) || new Date().toISOString().slice(0, 10);
  const days = await Promise.all(pages.map((uri) => ask('fronts/day?' + new URLSearchParams({ uri, day }))));
  state.pages = pages; // an address that is copied shows the same pages later
  const side = state.as === 'side';
  const look = (name, as) => h('a', { class: 'button', href: addressOf(state, { day, as, t: as && state.t }), 'aria-current': (state.as || '') === as ? 'true' : null }, name);
  return [
    title,
    h(
      'div',
      { class: 'fronts' },
      h('aside', {}, calendar(state, months, day), chooser(state, known, pages)),
      h(
        'section',
        { 'aria-label': 'Pictures of the day' },
        h(
          'div',
          { class: 'row dayrow' },
          h('a', { class: 'button', href: addressOf(state, { day: shift(day, -1), month: '' }), 'aria-label': 'The day before' }, '‹'),
          h('h2', {}, longDay(day)),
          h('a', { class: 'button', href: addressOf(state, { day: shift(day, 1), month: '' }), 'aria-label': 'The day after' }, '›'),
          h('span', { class: 'grow' }),
          look('Film strips', ''),
          look('Side by side', 'side'),
        ),
        side ? sideBySide(state, days) : strips(days, again),
        days.some((d) => d.frames.some((f) => f.picture)) ? h('p', { class: 'more' }, h('a', { href: '/api/v1/film?' + new URLSearchParams([...pages.map((uri) => ['uri', uri]), ['since', day]]), download: '' }, 'Download this day as one file'), ': its pictures with the slider, for any browser, without a server.') : null,
      ),
    ),
  ];
}

// none says how pages get pictures.
const none = (state) =>
  Object.keys(sitesOf(new URLSearchParams(Object.entries(state).filter(([, v]) => typeof v === 'string')))).length
    ? notice('', 'No page of these sites has a picture.')
    : notice('', 'No page has a picture yet. Pages are kept as pictures if the file of their site has ', h('code', {}, 'render.pages'), ' and ', h('code', {}, 'render.keep = "all"'), '. ', may('curate') && h('a', { href: '#/edit' }, 'Edit the files'));

const form = (state) => h('form', { class: 'row' }, siteFields(state, (change) => goTo('fronts', { label: state.label, collection: state.collection, owner: state.owner, ...change })));

// chooser lets a user choose pages.
function chooser(state, known, pages) {
  const list = [...known.pages, ...pages.filter((uri) => !known.pages.some((p) => p.uri === uri)).map((uri) => ({ uri, host: new URL(uri).host }))];
  const toggle = (uri, on) => (location.hash = addressOf(state, { pages: on ? [...pages, uri] : pages.filter((u) => u !== uri) }));
  const full = pages.length >= most;
  const hosts = list.map((p) => p.host);
  return h(
    'details',
    { class: 'chooser', open: innerWidth > 860 },
    h('summary', {}, h('h2', {}, 'Pages')),
    form(state),
    full ? h('p', { class: 'more' }, `${most} pages at most.`) : null,
    h(
      'ul',
      {},
      list.map((p) => {
        const on = pages.includes(p.uri);
        const unlike = !p.title || hosts.indexOf(p.host) !== hosts.lastIndexOf(p.host);
        return h('li', {}, h('label', {}, h('input', { type: 'checkbox', checked: on, disabled: (full && !on) || (on && pages.length === 1), onchange: (e) => toggle(p.uri, e.target.checked) }), h('span', { dir: 'auto' }, nameOf(p), p.title ? h('span', { class: 'more' }, ' ', unlike ? p.uri.replace(/^https?:\/\//, '') : hostLabel(p.host)) : null)));
      }),
    ),
  );
}

// calendar shows how much there is on each day of a month, of all chosen pages.
function calendar(state, months, day) {
  const month = state.month || day.slice(0, 7);
  const of = new Map();
  for (const m of months)
    for (const d of m.days) {
      const sum = of.get(d.day) || { versions: 0, pictures: 0 };
      of.set(d.day, { versions: sum.versions + d.versions, pictures: sum.pictures + d.pictures });
    }
  const top = Math.max(1, ...[...of.values()].map((d) => Math.max(d.versions, d.pictures)));
  const begin = month + '-01';
  const blank = (new Date(begin + 'T00:00:00Z').getUTCDay() + 6) % 7; // before the first, from Monday
  const cells = Array.from({ length: 42 }, (_, i) => shift(begin, i - blank)).map((d) => (d.startsWith(month) ? d : ''));
  const cell = (d) => {
    if (!d) return h('td', {});
    const n = of.get(d);
    const number = String(Number(d.slice(8)));
    if (!n) return h('td', { class: d === day ? 'chosen-day' : null }, h('span', {}, number));
    const level = Math.ceil((4 * Math.max(n.versions, n.pictures)) / top);
    const says = `${plural(n.versions, 'version')}, ${plural(n.pictures, 'picture')}`;
    return h('td', { class: d === day ? 'chosen-day' : null }, h('a', { href: addressOf(state, { day: d, month: '' }), class: n.pictures ? 'level' + level : 'bare', 'aria-current': d === day ? 'date' : null, title: says }, number, h('small', { 'aria-hidden': 'true' }, count(n.pictures || n.versions)), h('span', { class: 'unseen' }, ': ' + says)));
  };
  const step = (by, name, sign) => {
    const at = new Date(begin + 'T00:00:00Z');
    at.setUTCMonth(at.getUTCMonth() + by);
    return h('a', { class: 'button small', href: addressOf(state, { day, month: at.toISOString().slice(0, 7) }), 'aria-label': name }, sign);
  };
  return h(
    'details',
    { class: 'calendar', open: innerWidth > 860 || Boolean(state.month) },
    h('summary', {}, h('h2', {}, 'Calendar')),
    h('div', { class: 'row' }, step(-1, 'The month before', '‹'), h('h2', {}, dayName(begin, { month: 'long', year: 'numeric' })), step(1, 'The month after', '›')),
    h(
      'table',
      { 'aria-label': 'Versions and pictures by day' },
      h('thead', {}, h('tr', {}, ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'].map((n) => h('th', { scope: 'col' }, n)))),
      h('tbody', {}, [0, 1, 2, 3, 4, 5].map((week) => cells.slice(7 * week, 7 * week + 7)).filter((week) => week.some(Boolean)).map((week) => h('tr', {}, week.map(cell)))),
    ),
    h('p', { class: 'more' }, 'Pictures of each day; in a frame: versions without a picture.'),
  );
}

// linkTo returns the address of the page that shows the picture of a frame.
export const linkTo = (uri, frame, before) =>
  '#/front?' + new URLSearchParams({ u: uri, at: frame.picture, ...(frame.late ? { late: 'true' } : {}), ...(before ? { bu: before.uri, before: before.frame.picture, ...(before.frame.late ? { blate: 'true' } : {}) } : {}) });

// strips shows a film strip for each page. Arrows move along a strip and to the next one.
function strips(days, again) {
  const marked = []; // frames that are to be compared, at most two
  const bar = h('div', { class: 'row chosen', role: 'status' });
  const mark = (uri, frame, box) => {
    const i = marked.findIndex((m) => m.box === box);
    if (i >= 0) marked.splice(i, 1);
    if (box.checked) marked.push({ uri, frame, box });
    while (marked.length > 2) marked.shift().box.checked = false;
    const [a, b] = [...marked].sort((x, y) => (x.frame.date < y.frame.date ? -1 : 1));
    const seconds = b && precise([a.frame, b.frame]);
    bar.replaceChildren(...(b ? [h('a', { class: 'button primary', href: linkTo(b.uri, b.frame, a) }, `Compare ${clock(a.frame.date, seconds)} with ${clock(b.frame.date, seconds)}`)] : a ? [h('span', { class: 'more' }, `${clock(a.frame.date)} is marked. Mark another picture to compare them.`)] : []));
  };
  return [days.map((d) => strip(d, mark, again)), bar];
}

function strip(d, mark, again) {
  const pictures = d.frames.filter((f) => f.picture).length;
  const name = nameOf(d);
  return h(
    'section',
    { class: 'paper', 'aria-label': name },
    h('h3', {}, h('a', { href: '#/uri?u=' + encodeURIComponent(d.uri), dir: 'auto' }, name), h('span', { class: 'more' }, ` ${d.frames.length ? `${plural(d.frames.length, 'version')}, ${plural(pictures, 'picture')}` : 'nothing on this day'}`)),
    d.problem ? notice('warn', d.problem) : null,
    d.more ? h('p', { class: 'more' }, `${plural(d.more, 'earlier version')} of this day ${d.more === 1 ? 'is' : 'are'} not shown.`) : null,
    d.frames.length ? h('ol', { class: 'film', tabindex: '0', 'aria-label': `Film strip of ${name}`, onkeydown: walk }, d.frames.map((f) => frame(d, f, mark, again, precise(d.frames)))) : null,
  );
}

// walk moves the focus with the arrow keys: along the strip, and to the nearest frame of another strip.
function walk(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const other = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const here = document.activeElement.closest('li');
  let to = null;
  if (step) to = here ? (step < 0 ? here.previousElementSibling : here.nextElementSibling) : event.currentTarget.firstElementChild;
  if (other && here) {
    const all = [...document.querySelectorAll('.film')];
    const next = all[all.indexOf(event.currentTarget) + other];
    const at = here.dataset.at;
    to = next && ([...next.children].filter((li) => li.dataset.at <= at).at(-1) || next.firstElementChild);
  }
  if (!to) return;
  event.preventDefault();
  to.querySelector('a, button')?.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

// broken says in place of a picture why there is none.
export async function broken(img) {
  let why = 'The picture cannot be shown.';
  try {
    const answer = await fetch(img.src);
    if (!answer.ok) why = (await answer.json()).error || why;
  } catch {
    /* why says enough */
  }
  img.replaceWith(h('span', { class: 'blank' }, why));
}

const thumb = (uri, f, alt, lazy = true) => h('img', { src: pictureOf(uri, f, 'thumb'), alt, width: '400', height: '540', loading: lazy ? 'lazy' : null, decoding: 'async', onerror: (e) => broken(e.target) });

function frame(d, f, mark, again, seconds) {
  const at = clock(f.date, seconds);
  const headline = f.headline?.[1];
  return h(
    'li',
    { 'data-at': f.date },
    f.picture
      ? h('a', { class: 'framed', href: linkTo(d.uri, f) }, thumb(d.uri, f, `${nameOf(d)} at ${at}`))
      : h('div', { class: 'blank' }, h('span', { role: 'status' }, 'No picture'), maker(d.uri, f, again), h('a', { href: '#/view?' + new URLSearchParams({ u: d.uri, at: f.at }), 'aria-label': `View the version of ${at}` }, 'View the version')),
    h('div', { class: 'under' }, h('time', { datetime: f.date, title: moment(f.date) + ' UTC' }, at), f.late ? h('span', { class: 'more', title: 'The picture was made later, of the archived page' }, 'made later') : null, f.picture ? h('label', {}, h('input', { type: 'checkbox', 'aria-label': `Compare the picture of ${at}`, onchange: (e) => mark(d.uri, f, e.target) }), 'Compare') : null),
    headline ? h('p', { class: 'headline', dir: 'auto', title: headline }, headline) : f.kinds?.length ? h('p', { class: 'headline more' }, f.kinds[0] === 'nothing' ? 'nothing that a reader sees' : f.kinds.filter((k) => k !== 'around').join(', ') || f.kinds[0]) : null,
  );
}

// maker is the button that lets the daemon make the picture of a version.
function maker(uri, f, again) {
  if (!may('curate') || !f.at) return null;
  const wait = async (e) => {
    const says = e.target.previousElementSibling;
    try {
      let p = await ask('fronts/picture', { uri, at: f.at });
      e.target.disabled = true;
      while (p.state === 'waiting' && says.isConnected) {
        says.textContent = 'Making the picture …';
        await new Promise((next) => setTimeout(next, 1000));
        p = await ask('fronts/picture?' + new URLSearchParams({ uri, at: f.at }));
      }
      if (p.state === 'done' && says.isConnected) await again();
      else says.textContent = p.problem || 'The daemon has forgotten the order.';
    } catch (problem) {
      says.textContent = problem.message;
    }
    e.target.disabled = false;
  };
  return h('button', { type: 'button', class: 'small', onclick: wait, 'aria-label': `Make a picture of ${clock(f.date)}` }, 'Make a picture');
}

// sideBySide shows what each page looked like at one time of the day, and lets a user move through the day.
function sideBySide(state, days) {
  const frames = days.map((d) => [...(d.before?.picture ? [{ ...d.before, earlier: true }] : []), ...d.frames.filter((f) => f.picture)]);
  const minute = (f) => (f.earlier ? 0 : Number(f.date.slice(11, 13)) * 60 + Number(f.date.slice(14, 16)) + 1);
  const times = [...new Set(frames.flat().map(minute))].sort((a, b) => a - b);
  if (!times.length) return notice('', 'No page has a picture of this day.');
  const figures = days.map((d) => h('figure', {}));
  const says = h('output', {});
  const range = h('input', { type: 'range', min: '0', max: '1440', step: '5', value: state.t || String(Math.ceil(times.at(-1) / 5) * 5), 'aria-label': 'Time of day' });
  const write = (t) => `${String(Math.floor(t / 60)).padStart(2, '0')}:${String(t % 60).padStart(2, '0')}`;
  const draw = () => {
    const t = Number(range.value);
    says.textContent = write(t) + ' UTC';
    range.setAttribute('aria-valuetext', write(t));
    days.forEach((d, i) => {
      const f = frames[i].filter((f) => minute(f) <= t).at(-1);
      const key = f ? f.picture : '';
      if (figures[i].dataset.at === key) return;
      figures[i].dataset.at = key;
      const name = h('figcaption', {}, h('strong', { dir: 'auto' }, nameOf(d)), h('span', { class: 'more' }, f ? (f.earlier ? ' since the day before' : ` since ${clock(f.date)}`) : ' nothing yet'));
      figures[i].replaceChildren(name, f ? h('a', { class: 'framed', href: linkTo(d.uri, f) }, thumb(d.uri, f, `${nameOf(d)} at ${write(t)}`, false)) : h('span', { class: 'blank' }, 'No picture yet'));
    });
  };
  const moved = () => {
    draw();
    history.replaceState(null, '', addressOf(state, { t: range.value }));
  };
  range.addEventListener('input', moved);
  const jump = (by) => {
    const t = Number(range.value);
    const next = by > 0 ? times.find((x) => x > t) : times.findLast((x) => x <= t - 5);
    if (next === undefined) return;
    range.value = String(Math.ceil(next / 5) * 5);
    moved();
  };
  draw();
  return h(
    'div',
    {},
    h('div', { class: 'row time' }, h('button', { type: 'button', onclick: () => jump(-1) }, 'Earlier picture'), says, h('button', { type: 'button', onclick: () => jump(1) }, 'Later picture'), range),
    h('div', { class: 'abreast' }, figures),
  );
}
