// The page that captures URIs at once and follows them until they are archived.
import { h, ask, when, plural, table, notice, uriLink, may, needsRole } from './page.js';

const every = 2000; // ms between two questions
const patience = 30 * 60_000; // ms after which the page stops asking

export async function capturePage(again, wanted) {
  if (!may('curate')) return needsRole('Capture now', 'curate');
  const field = h('textarea', { name: 'uris', rows: '4', required: true, spellcheck: 'false' }, wanted.get('u') || '');
  const result = h('div', { role: 'status' });
  const form = h(
    'form',
    {
      onsubmit(e) {
        e.preventDefault();
        run(field.value.split(/\s+/).filter(Boolean), result);
      },
    },
    h('label', {}, 'URIs, one on each line', field),
    h('p', {}, h('button', { class: 'primary' }, 'Capture now')),
  );
  return [
    h('h1', {}, 'Capture now'),
    h('p', {}, 'Visits these pages, and what they show, as soon as the pace of their sites allows. New URIs must be on sites of the configuration.'),
    form,
    result,
  ];
}

// run orders the visits and shows the progress of each page and of its embeds.
async function run(uris, result) {
  try {
    const started = await ask('capture', { uris });
    const pages = started.uris.map((uri) => ({ uri, since: started.since, embeds: null, missing: 0, row: { state: 'waiting' } }));
    const end = Date.now() + patience;
    for (;;) {
      let condition = null;
      for (const page of pages) condition = (await follow(page)) || condition;
      show(result, started, pages, condition);
      if (pages.every(done) || !result.isConnected || Date.now() > end) return;
      await new Promise((next) => setTimeout(next, every));
    }
  } catch (e) {
    result.replaceChildren(notice('bad', e.message));
  }
}

const settled = (row) => row.state !== 'waiting';
const done = (page) => settled(page.row) && (!page.embeds || page.embeds.every(settled));

// follow asks how far a page is. When the page is archived, it orders visits of the embeds.
async function follow(page) {
  if (done(page)) return null;
  if (!settled(page.row)) {
    const p = await ask('capture/progress', { uris: [page.uri], since: page.since });
    page.row = p.uris[0];
    if (page.row.state === 'archived' && page.row.embeds) {
      const started = await ask('capture', { uris: page.row.embeds, embeds: true });
      page.missing = (started.outside || []).length;
      page.embedsSince = page.since; // a visit on the way counts
      page.embeds = started.uris.map((uri) => ({ uri, state: 'waiting' }));
    }
    return p.condition;
  }
  const p = await ask('capture/progress', { uris: page.embeds.map((e) => e.uri), since: page.embedsSince });
  page.embeds = p.uris;
  return p.condition;
}

function show(result, started, pages, condition) {
  const embeds = (p) => {
    if (!p.embeds) return settled(p.row) ? 'none' : '–';
    const text = `${p.embeds.filter((e) => e.state === 'archived').length} of ${p.embeds.length} archived`;
    const failed = p.embeds.filter((e) => e.state === 'failed').length;
    return text + (failed ? `, ${failed} failed` : '') + (p.missing ? `, ${p.missing} not part of the crawl` : '');
  };
  const state = (p) => {
    if (p.row.state === 'archived') return ['archived', p.row.why ? ` (${p.row.why})` : '', ', ', h('a', { href: p.row.view, 'aria-label': 'View ' + p.uri }, 'view')];
    if (p.row.state === 'failed') return `failed: ${p.row.why || 'status ' + p.row.status}`;
    return p.row.due ? 'waiting, due ' + when(p.row.due) : 'waiting';
  };
  result.replaceChildren(
    ...[
      (started.faults || []).map((text) => notice('bad', text)),
      (started.outside || []).map((uri) =>
        notice('warn', `${uri} is on a site without a seed in the configuration, so it is not captured. `, h('a', { href: '#/import?list=' + encodeURIComponent(uri) }, 'Add it as a seed'), ', or correct the address.'),
      ),
      condition && condition.state !== 'crawling' ? notice('warn', `The crawl is ${condition.state}${condition.why ? ': ' + condition.why : ''}. The visits wait for its end.`) : [],
      pages.length && pages.every(done) ? notice('good', `All done: ${plural(pages.length, 'page')}.`) : [],
      pages.length
        ? table('Captures', [['URI', (p) => uriLink(p.uri), 'wide'], ['page', state, 'left'], ['embeds', embeds, 'left']], pages)
        : [],
    ].flat(),
  );
}
