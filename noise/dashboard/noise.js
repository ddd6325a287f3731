// Lists pages that differ at each fetch without being new, and finds rules that silence them.
import { h, ask, count, plural, moment, span, uriLink, hostLabel, table, notice, sitesOf, siteForm, goTo } from './page.js';
import { register } from './register.js';
import { panel, ignoreButton } from './ignore.js';

async function noisePage(again, query) {
  const host = query.get('host') || '';
  const sites = sitesOf(query);
  const part = (cursor) => ask('noise?' + new URLSearchParams({ host, cursor, ...sites }));
  const found = await part(query.get('cursor') || '');
  const place = h('div', {}); // of the panel with rules
  const list = h('div', {});
  const further = (cursor) => '#/noise?' + new URLSearchParams({ host, cursor, ...sites });
  const draw = () => rows(list, found, further, place);
  draw();
  setTimeout(() => searchOn(list, found, part, draw).catch(() => {}), 0); // when the page is shown
  return [
    h('h1', {}, 'Pages that differ at each fetch' + (host ? ': ' : ''), host ? hostLabel(host) : ''),
    h(
      'p',
      {},
      'They show a clock, hold a token, or rotate teasers. Restless pages are visited once a day; of noisy pages, what a reader sees decides when, without what proposed rules match. An accepted rule makes both pages like all others.',
    ),
    host ? null : siteForm(sites, (change) => goTo('noise', { ...sites, ...change })),
    place,
    list,
  ];
}

// rows shows the pages that were found.
function rows(list, found, further, place) {
  list.replaceChildren(
    table(
      plural(found.pages.length, 'page') + (found.next ? ' so far' : ''),
      [
        ['URI', (p) => uriLink(p.uri), 'wide'],
        [
          'rule',
          (p) => {
            const [text, show] = p.rules
              ? ['Show the rule', () => panel({ uri: p.uri }, place, p.rules)]
              : ['Find a rule', () => suggest(p.uri, place)];
            return h('button', { type: 'button', class: 'small', 'aria-label': text + ' for ' + p.uri, onclick: show }, text);
          },
        ],
        ['what is known', (p) => p.why, 'left'],
        ['versions of visits', (p) => `${count(p.versions)} of ${count(p.visits)}`],
        ['last visit', (p) => moment(p.last_visit)],
        ['wait', (p) => span(p.wait_seconds)],
      ],
      found.pages,
      found.next ? 'None so far.' : 'No page differs at each fetch.',
    ),
    ...(found.next ? [h('p', {}, h('a', { class: 'button', href: further(found.next) }, 'Search further'))] : []),
  );
}

// searchOn asks for further parts of the store until there are enough pages, for some seconds. Each answer is short.
async function searchOn(list, found, ask, draw) {
  const end = Date.now() + 5000;
  while (found.next && found.pages.length < 100 && Date.now() < end && list.isConnected && !list.contains(document.activeElement)) {
    const more = await ask(found.next);
    found.pages.push(...more.pages);
    found.next = more.next;
    if (more.pages.length || !more.next) draw();
  }
  if (!list.contains(document.activeElement)) draw();
}

// suggest finds rules for a page, and shows them with their effect.
async function suggest(uri, place) {
  place.replaceChildren(h('p', { role: 'status' }, 'Looking for a rule …'));
  try {
    const found = await ask('ignore/suggest', { uri });
    panel({ uri }, place, found.rules.length ? found.rules : [{ kind: 'scrub_css', rule: '' }], found.problem);
  } catch (e) {
    place.replaceChildren(notice('bad', e.message));
  }
}

const title = 'Pages that differ at each fetch';
register({
  pages: { noise: noisePage },
  tabs: { days: { noise: title } },
  parts: {
    difference: ignoreButton,
    host: (name) => h('a', { class: 'button', href: '#/noise?host=' + encodeURIComponent(name) }, title),
  },
});
