// All that is known of one URI, and its visits over time.
import { h, ask, optional, count, bytes, span, when, moment, hostLink, table, pairs, notice, button } from './page.js';
import { timeline } from './timeline.js';

export async function uriPage(again, query) {
  const wanted = query.get('u') || '';
  const form = h('form', { class: 'row', onsubmit(e) { e.preventDefault(); location.hash = '#/uri?u=' + encodeURIComponent(new FormData(e.target).get('u')); } },
    h('label', { class: 'grow' }, 'URI', h('input', { name: 'u', value: wanted, type: 'url', required: true, placeholder: 'https://www.news.example/' })), h('button', {}, 'Show'));
  if (!wanted) return [h('h1', {}, 'URI'), form];
  const q = '?uri=' + encodeURIComponent(wanted);
  const [known, history, why] = await Promise.all([optional('uri' + q), optional('history' + q), optional('why' + q)]);
  if (!known) return [h('h1', {}, 'URI'), form, notice('', 'It is not known. arcrawl why-not ' + wanted + ' says which rule keeps it out.')];
  return [
    h('h1', {}, known.uri), form,
    h('div', { class: 'row' }, button('Visit it now', () => ask('frontier/steer', { select: { uris: [known.uri] }, verb: 'force' }), again)),
    pairs([
      ['host', hostLink(new URL(known.uri).host)], ['found', `${known.hops ? 'by the way ' + known.hops : 'as a seed'}${known.via ? ', from ' + known.via : ''}`],
      ['next visit', when(known.due)], ['overdue', span(known.overdue_seconds)], ['interval', span(known.wait_seconds)],
      ['visits', `${count(known.visits)}, ${count(known.versions)} versions`], ['last visit', when(known.last_visit) + ', status ' + known.last_status],
      ['last change', when(known.last_change)], ['failures', known.failures ? `${count(known.failures)} in a row` : 'none'],
      known.rate_per_day ? ['expected', `${known.rate_per_day.toFixed(2)} changes a day`] : null,
      ['content', `${known.content_type || '–'}, ${bytes(known.size)}`], ['ETag', known.etag || '–'], ['Last-Modified', known.last_modified || '–'],
      known.warc_file ? ['archived in', h('code', {}, `${known.warc_file} at ${known.warc_offset}`)] : null,
    ]),
    explain(why),
    h('h2', {}, 'Its visits'),
    history ? [timeline(history.visits), history.complete ? null : h('p', {}, 'Older visits stand further back in the log than was looked.'), visits(history.visits)] : notice('', 'This daemon does not read its log.'),
  ];
}

// explain shows what the daemon says of why the URI is due when it is, line by line.
function explain(why) {
  const lines = why && (why.lines || why.reasons || why.text);
  if (!lines) return null;
  return [h('h2', {}, 'Why'), h('div', { class: 'panel' }, (Array.isArray(lines) ? lines : [lines]).map((l) => h('p', {}, typeof l === 'string' ? l : `${l.about}: ${l.text}`)))];
}

function visits(list) {
  return table('The newest first', [
    ['time (UTC)', (v) => moment(v.at)], ['status', (v) => v.status], ['found', (v) => v.state, 'left'], ['size', (v) => bytes(v.size)], ['overdue', (v) => span(v.overdue_seconds)],
    ['next after', (v) => span(v.wait_seconds)], ['notes', (v) => v.notes || '', 'wide'],
  ], list.slice().reverse().slice(0, 200));
}
