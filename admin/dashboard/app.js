// Shows the page that the address names, and shows it anew from time to time.
import { h, ask, notice } from './page.js';
import { overview } from './overview.js';
import { hostList, hostPage } from './hosts.js';
import { uriPage } from './uri.js';
import { headers, dedup, config } from './reports.js';

const pages = { '': overview, hosts: hostList, host: hostPage, uri: uriPage, headers, dedup, config };
const fresh = { '': 10_000, hosts: 15_000, host: 15_000, uri: 15_000 }; // ms; the others stay as they were asked for

const view = document.getElementById('view');
let shown = '', timer = 0, turn = 0;

// show asks for the page and replaces what is shown. Whoever types or reads a table is not disturbed by it.
async function show(anew) {
  clearTimeout(timer);
  const mine = ++turn;
  const address = location.hash.replace(/^#\/?/, '');
  const [path, query] = address.split('?');
  const [name, ...rest] = path.split('/');
  const page = pages[name] || overview;
  let content;
  try {
    content = await page(() => show(true), new URLSearchParams(query), decodeURIComponent(rest.join('/')));
  } catch (e) {
    content = [h('h1', {}, 'That did not work'), notice('bad', e.message)];
  }
  if (mine !== turn) return;
  const changed = address !== shown;
  shown = address;
  for (const a of document.querySelectorAll('nav a')) {
    if (a.dataset.page === (name === 'host' ? 'hosts' : name)) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  view.replaceChildren(...content.flat(Infinity).filter(Boolean));
  document.title = (view.querySelector('h1')?.textContent || 'arcrawl') + ' – arcrawl';
  if (changed && anew !== 'first') { view.focus({ preventScroll: true }); scrollTo(0, 0); }
  view.dataset.ready = address || 'overview';
  if (fresh[name]) timer = setTimeout(later, fresh[name]);
}

// later shows the page anew, unless somebody is using a part of it that would be taken away.
function later() {
  const using = view.querySelector('details[open]') || view.contains(document.activeElement) && document.activeElement !== view;
  if (document.hidden || using) timer = setTimeout(later, 5000);
  else show(true);
}

// stand shows at the top of every page whether it crawls.
async function stand() {
  const place = document.getElementById('stand');
  try {
    const s = await ask('status');
    const kind = { crawling: s.alarms.length ? 'warn' : 'good', paused: 'warn', held: 'bad' }[s.stand.state];
    const text = s.stand.state + (s.alarms.length ? `, ${s.alarms.length} ${s.alarms.length === 1 ? 'alarm' : 'alarms'}` : '');
    if (place.textContent !== text) place.replaceChildren(h('span', { class: 'pill ' + kind }, text));
    document.getElementById('foot').textContent = `arcrawl ${s.version}. Times are UTC.`;
  } catch (e) {
    place.replaceChildren(h('span', { class: 'pill bad' }, 'no answer'));
  }
  setTimeout(stand, 10_000);
}

addEventListener('hashchange', () => show());
show('first');
stand();
