// Shows the page that the address names, and updates it from time to time.
import { h, ask, notice, loadNames } from './page.js';
import { overview } from './overview.js';
import { hostList, hostPage } from './hosts.js';
import { uriPage } from './uri.js';
import { viewPage } from './versions.js';
import { comparePage } from './compare.js';
import { headers, dedup, config } from './reports.js';

const pages = { '': overview, hosts: hostList, host: hostPage, uri: uriPage, view: viewPage, compare: comparePage, headers, dedup, config };
const fresh = { '': 5_000, hosts: 15_000, host: 15_000, uri: 15_000 }; // ms; other pages are not updated

const view = document.getElementById('view');
let shown = '',
  instance = '', // name of the crawl
  timer = 0,
  turn = 0;
const named = loadNames();

// show builds the page of the address and replaces the content. A page that was requested earlier does not replace a later one.
async function show(mode) {
  clearTimeout(timer);
  const mine = ++turn;
  const address = location.hash.replace(/^#\/?/, '');
  const [path, query] = address.split('?');
  const [name, ...rest] = path.split('/');
  const page = pages[name] || overview;
  let content;
  try {
    await named;
    content = await page(() => show(true), new URLSearchParams(query), decodeURIComponent(rest.join('/')));
  } catch (e) {
    content = [h('h1', {}, 'Error'), notice('bad', e.message)];
  }
  if (mine !== turn) return;
  const changed = address !== shown;
  shown = address;
  for (const a of document.querySelectorAll('nav a')) {
    if (a.dataset.page === (name === 'host' ? 'hosts' : name)) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  view.replaceChildren(...content.flat(Infinity).filter(Boolean));
  entitle();
  if (changed && mode !== 'first') {
    view.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  view.dataset.ready = address || 'overview';
  if (fresh[name]) timer = setTimeout(later, fresh[name]);
}

// entitle writes the title of the window: the page, the crawl and the program.
function entitle() {
  const heading = view.querySelector('h1')?.textContent;
  document.title = [heading, instance, 'arcrawl'].filter(Boolean).join(' – ');
}

// later updates the page, unless a user is typing in it or has opened a table.
function later() {
  const using =
    view.querySelector('details[open]') || (view.contains(document.activeElement) && document.activeElement !== view);
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
    const open = s.alarms.filter((a) => !a.acknowledged).length;
    const kind = { crawling: open ? 'warn' : 'good', paused: 'warn', held: 'bad' }[s.stand.state];
    const text = s.stand.state + (open ? `, ${open} ${open === 1 ? 'alarm' : 'alarms'}` : '');
    if (place.textContent !== text) place.replaceChildren(h('span', { class: 'pill ' + kind }, text));
    document.getElementById('foot').textContent = `arcrawl ${s.version}. Times are UTC.`;
  } catch (e) {
    place.replaceChildren(h('span', { class: 'pill bad' }, 'no answer'));
  }
  setTimeout(state, 10_000);
}

addEventListener('hashchange', () => show());
show('first');
state();
