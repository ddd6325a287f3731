// Shows the page that the address names, and updates it from time to time.
import { h, ask, optional, notice, leftOut, loadNames, knowRole, may, failed, moment, span, sitesOf } from './page.js';
import { remember } from './keep.js';
import { added, entryOf } from './register.js';
import { overview, headline } from './overview.js';
import { hostList, hostPage } from './hosts.js';
import { uriPage } from './uri.js';
import { usersPage } from './users.js';
import { configPage } from './config.js';

const pages = { '': overview, operations: overview, hosts: hostList, host: hostPage, uri: uriPage, users: usersPage, config: configPage, ...added.pages };
const fresh = { '': 5_000, operations: 5_000, hosts: 15_000, host: 15_000, uri: 15_000, ...added.fresh }; // ms; other pages, and those that read for long, are not updated
added.under = { '': 'operations', host: 'hosts', ...added.under }; // entries of the navigation

const view = document.getElementById('view');
let shown = '',
  instance = '', // name of the crawl
  timer = 0,
  turn = 0;
const named = Promise.all([loadNames(), me()]);

// show builds the page of the address and replaces the content. A page that was requested earlier does not replace a later one.
async function show(mode) {
  clearTimeout(timer);
  const mine = ++turn;
  const address = location.hash.replace(/^#\/?/, '');
  const [path, query] = address.split('?');
  const [name, ...rest] = path.split('/');
  const page = pages[name] || pages[''];
  const changed = address !== shown;
  let content;
  try {
    await named;
    content = await page(() => show(true), new URLSearchParams(query), decodeURIComponent(rest.join('/')));
    if (mine === turn) stale(null);
  } catch (e) {
    if (mine !== turn) return;
    if (!changed && mode !== 'first' && view.dataset.ready) {
      stale(e); // what is shown stays, with its age
      timer = setTimeout(later, 5000);
      return;
    }
    content = [h('h1', {}, 'Error'), notice('bad', e.message)];
    timer = setTimeout(later, 5000);
  }
  if (mine !== turn) return;
  shown = address;
  for (const a of document.querySelectorAll('header nav a')) {
    if (a.dataset.page === entryOf(name)) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  const restore = changed ? null : remember(view);
  view.replaceChildren(...tabs(path, new URLSearchParams(query)), ...leftOut(), ...content.flat(Infinity).filter(Boolean));
  restore?.();
  entitle();
  if (changed && mode !== 'first') {
    view.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  view.dataset.ready = address || 'new';
  if (fresh[name] && !/[?&]seconds=/.test(address)) timer = setTimeout(later, fresh[name]);
}

// tabs returns links to the pages that share an entry of the navigation, for the same sites.
function tabs(page, query) {
  const entry = entryOf(page);
  const titles = Object.entries(added.tabs[entry] || {}).sort(([a], [b]) => (b === entry) - (a === entry));
  const of = Object.entries(sitesOf(query)).length ? '?' + new URLSearchParams(sitesOf(query)) : '';
  if (titles.length < 2 || !titles.some(([name]) => name === page)) return [];
  return [h('nav', { class: 'tabs', 'aria-label': 'Further pages' }, titles.map(([name, title]) => h('a', { href: `#/${name}${of}`, 'aria-current': name === page ? 'page' : null }, title)))];
}

// entitle writes the title of the window: the page, the crawl and the program.
function entitle() {
  const heading = view.querySelector('h1')?.textContent;
  document.title = [heading, instance, 'arcrawl'].filter(Boolean).join(' – ');
}

// stale says how old the content is, if it could not be updated. The page itself stays.
let since = null;
function stale(error) {
  const place = document.getElementById('stale');
  if (!error) {
    since = new Date();
    place.replaceChildren();
    view.classList.remove('stale');
    return;
  }
  const age = since ? (Date.now() - since) / 1000 : 0;
  const at = since ? moment(since.toISOString()).slice(11) : 'the start';
  place.replaceChildren(
    notice('bad', `Not up to date: this is the state of ${at} UTC, ${span(age)} ago. ${error.message}`),
  );
  view.classList.add('stale');
}

// later updates the page, unless a user is typing in it.
function later() {
  const using = view.contains(document.activeElement) && document.activeElement.matches('input, select, textarea');
  if (document.hidden || using) timer = setTimeout(later, 5000);
  else show(true);
}

// state shows the state of the crawl at the top of every page.
async function state() {
  const place = document.getElementById('state');
  try {
    const s = await ask('status');
    loadNames();
    if (s.instance && s.instance !== instance) {
      instance = s.instance;
      document.getElementById('instance').textContent = instance;
      entitle();
    }
    document.getElementById('foot').textContent = `arcrawl ${s.version}. Times are UTC.`;
  } catch (e) {
    place.replaceChildren(h('span', { class: 'pill bad' }, 'no answer'));
  }
  setTimeout(state, 10_000);
}

// The pill and the heading of the page Operations come from the same answer, so that they never contradict each other.
addEventListener('status', (event) => {
  const s = event.detail;
  const place = document.getElementById('state');
  const open = s.alarms.filter((a) => !a.acknowledged).length;
  const kind = { crawling: open ? 'warn' : 'good', paused: 'warn', held: 'bad' }[s.condition.state];
  const text = s.condition.state + (open ? `, ${open} ${open === 1 ? 'alarm' : 'alarms'}` : '');
  if (place.textContent !== text) place.replaceChildren(h('a', { class: 'pill ' + kind, href: open ? '#/operations?to=alarms' : '#/operations' }, text));
  const heading = document.getElementById('headline');
  if (heading && heading.textContent !== headline(s)) {
    heading.textContent = headline(s);
    entitle();
  }
});

// me says at the top of every page who is signed in, with a button to sign out.
async function me() {
  const is = await optional('me').catch(() => null);
  if (!is) return;
  knowRole(is.role);
  for (const a of document.querySelectorAll('header nav a[data-needs]')) a.hidden = !may(a.dataset.needs);
  if (is.way === 'socket') return;
  const name = `${is.name} (${is.role})`;
  const who = is.way === 'session' ? h('a', { href: '/password', title: 'Change your password' }, name) : h('span', { title: name }, name);
  const out = h('form', { method: 'post', action: '/logout' }, h('button', { class: 'small', title: 'Signed in as ' + name }, 'Sign out'));
  document.getElementById('me').replaceChildren(who, ...(is.way === 'proxy' ? [] : [out]));
}

// On a phone a button opens the menu.
const menu = document.getElementById('menu');
const openMenu = (yes) => menu.setAttribute('aria-expanded', String(yes));
menu.addEventListener('click', () => openMenu(menu.getAttribute('aria-expanded') !== 'true'));
addEventListener('keydown', (event) => event.key === 'Escape' && openMenu(false));

addEventListener('hashchange', () => {
  openMenu(false);
  failed();
  show();
});
show('first');
state();
