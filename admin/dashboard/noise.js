// Lists pages that differ at each fetch without being new, and finds rules that silence them.
import { h, ask, count, plural, moment, span, uriLink, hostLabel, table, notice, sitesOf, siteForm, goTo } from './page.js';
import { panel } from './ignore.js';

export async function noisePage(again, query) {
  const host = query.get('host') || '';
  const sites = sitesOf(query);
  const found = await ask('noise?' + new URLSearchParams({ host, cursor: query.get('cursor') || '', ...sites }));
  const place = h('div', {}); // of the panel with rules
  return [
    h('h1', {}, 'Pages that differ at each fetch' + (host ? ': ' : ''), host ? hostLabel(host) : ''),
    h(
      'p',
      {},
      'They show a clock, hold a token, or rotate teasers. Restless pages are visited once a day; of noisy pages, what a reader sees decides when, without what proposed rules match. An accepted rule makes both pages like all others.',
    ),
    host ? null : siteForm(sites, (change) => goTo('noise', { ...sites, ...change })),
    place,
    table(
      plural(found.pages.length, 'page') + (found.next ? ' so far' : ''),
      [
        ['URI', (p) => uriLink(p.uri), 'wide'],
        ['what is known', (p) => p.why, 'left'],
        ['versions of visits', (p) => `${count(p.versions)} of ${count(p.visits)}`],
        ['last visit', (p) => moment(p.last_visit)],
        ['wait', (p) => span(p.wait_seconds)],
        [
          'rule',
          (p) => {
            const [text, show] = p.rules
              ? ['Show the rule', () => panel({ uri: p.uri }, place, p.rules)]
              : ['Find a rule', () => suggest(p.uri, place)];
            return h('button', { type: 'button', class: 'small', 'aria-label': text + ' for ' + p.uri, onclick: show }, text);
          },
        ],
      ],
      found.pages,
      found.next ? 'None in this part of the store.' : 'No page differs at each fetch.',
    ),
    found.next
      ? h('p', {}, h('a', { class: 'button', href: '#/noise?' + new URLSearchParams({ host, cursor: found.next, ...sites }) }, 'Search the next part'))
      : null,
  ];
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
