// The picture of a page, with a slider to another one.
import { h, ask, count, notice, uriLink } from './page.js';
import { broken, clock, linkTo, longDay, nameOf, pictureOf, precise } from './fronts.js';
import { slider } from './slider.js';

const dateOf = (at) => at.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z');
const says = (page, frame, other) => `${other ? nameOf(page) + ', ' : ''}${frame.date.slice(0, 10)} ${clock(frame.date, precise(page.all))}`;

// dayOf returns the pictures of a page on the day of one of them, with the last one of the day before.
async function dayOf(uri, at, late) {
  const day = await ask('fronts/day?' + new URLSearchParams({ uri, day: dateOf(at).slice(0, 10) }));
  const all = [...(day.before ? [day.before] : []), ...day.frames].filter((f) => f.picture);
  const is = (f) => f.picture === at && Boolean(f.late) === late;
  if (!all.some(is)) all.push({ date: dateOf(at), picture: at, late });
  return { ...day, all, i: all.findIndex(is) };
}

export async function frontPage(again, wanted) {
  const uri = wanted.get('u') || '';
  const here = await dayOf(uri, wanted.get('at') || '', wanted.get('late') === 'true');
  const frame = here.all[here.i];
  const bu = wanted.get('bu') || uri;
  const before = wanted.get('before');
  const there = before ? await dayOf(bu, before, wanted.get('blate') === 'true') : here;
  const old = before ? there.all[there.i] : before === null ? here.all[here.i - 1] : null;
  const foreign = bu !== uri;
  const step = (name, f) => (f ? h('a', { class: 'button', href: linkTo(uri, f) }, name) : h('span', { class: 'button off' }, name));
  const choose = (value) => {
    const f = here.all.find((x) => x.picture + Boolean(x.late) === value);
    location.hash = f ? linkTo(uri, frame, { uri, frame: f }) : linkTo(uri, frame) + '&before=';
  };
  const option = (f) => h('option', { value: f.picture + Boolean(f.late), selected: !foreign && f === old }, says(here, f));
  const at = (f) => ({ uri, at: f.picture, late: f.late ? 'true' : '' });
  return [
    h('h1', {}, `${nameOf(here)} at ${clock(frame.date, precise(here.all))}`),
    h('p', { class: 'long' }, longDay(frame.date.slice(0, 10)), ' · ', uriLink(uri)),
    h(
      'div',
      { class: 'row versions', role: 'navigation', 'aria-label': 'Pictures' },
      step('Earlier picture', here.all[here.i - 1]),
      step('Later picture', here.all[here.i + 1]),
      h('a', { class: 'button', href: '#/fronts?' + new URLSearchParams([...new Set([uri, bu])].map((u) => ['u', u]).concat([['day', frame.date.slice(0, 10)]])) }, 'Film strip'),
      h('a', { class: 'button', href: '#/view?' + new URLSearchParams({ u: uri, at: frame.at || frame.picture }) }, 'View the version'),
      h('a', { class: 'button', href: pictureOf(uri, frame), target: '_blank' }, 'Full size'),
      h('label', {}, 'Compare with', h('select', { onchange: (e) => choose(e.target.value) }, h('option', { value: '' }, 'nothing'), foreign ? h('option', { selected: true }, says(there, old, true)) : null, here.all.filter((f) => f !== frame).map(option), !foreign && old && !here.all.includes(old) ? option(old) : null)),
    ),
    frame.late ? notice('', 'This picture was made later, of the archived page and what it embeds, without a network.') : null,
    frame.headline ? h('div', { class: 'change' }, h('p', { class: 'headlines' }, h('del', { dir: 'auto' }, frame.headline[0]), ' ', h('ins', { dir: 'auto' }, frame.headline[1]))) : null,
    old ? await compared({ uri: bu, page: there, frame: old }, { uri, page: here, frame }, foreign) : h('div', { class: 'slider' }, h('div', { class: 'stage' }, h('img', { src: pictureOf(uri, frame, 'sheet'), alt: `${nameOf(here)} at ${clock(frame.date)}`, onerror: (e) => broken(e.target) }))),
  ];
}

const parameters = (a, b) => new URLSearchParams({ uri: b.uri, at: b.frame.picture, late: Boolean(b.frame.late), before_uri: a.uri, before: a.frame.picture, before_late: Boolean(a.frame.late) });

// summary says how much is new and how much moved.
function summary(m) {
  if (m.problem) return m.problem;
  if (!m.changed && !m.moved) return m.areas.length ? 'Hardly anything is new.' : 'Nothing is new, and nothing moved.';
  const by = m.areas.filter((a) => a.by).sort((x, y) => y.width * y.height - x.width * x.height)[0]?.by;
  const most = by ? `, most by ${count(Math.abs(by))} pixels ${by > 0 ? 'down' : 'up'}` : '';
  return `${m.changed} % of the picture is new, ${m.moved} % moved${most}.`;
}

// compared shows the slider, and says what moved.
async function compared(a, b, foreign) {
  const side = (x) => ({ src: pictureOf(x.uri, x.frame, 'sheet'), alt: `${nameOf(x.page)} at ${clock(x.frame.date)}`, says: says(x.page, x.frame, foreign) });
  const place = h('div', {}, slider(side(a), side(b), null));
  const status = h('p', { class: 'row marking', role: 'status' }, h('span', { class: 'more' }, 'Looking for what moved …'));
  ask('fronts/moved?' + parameters(a, b)).then(
    (m) => {
      const drawn = slider(side(a), side(b), m);
      place.replaceChildren(drawn);
      const marks = h('input', { type: 'checkbox', checked: true, onchange: (e) => drawn.classList.toggle('unmarked', !e.target.checked) });
      const fresh = [...drawn.querySelectorAll('.marks .changed')];
      let at = -1;
      const next = h('button', { type: 'button', onclick: () => fresh[(at = (at + 1) % fresh.length)].scrollIntoView({ block: 'center' }) }, 'Next change');
      status.replaceChildren(h('span', {}, summary(m)), ...(m.areas.length ? [h('label', {}, marks, 'Marks'), ...(fresh.length ? [next] : [])] : []));
    },
    (e) => status.replaceChildren(notice('warn', e.message)),
  );
  return [status, place];
}
