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
  if (!known) return [h('h1', {}, 'URI'), form, await whyNot(wanted)];
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

// explain shows what comes next and why, what the rules say, and the settings of the next visit with who set them.
function explain(why) {
  if (!why) return null;
  return [
    h('h2', {}, 'Why'),
    pairs([
      ['now', why.state], ['next', why.next], ['because', why.why || '–'], ['before it', why.ahead ? `${count(why.ahead)} URIs of its host` : 'nothing of its host'],
      ['pace of its host', `a visit each ${span(why.delay_seconds)}, ${why.observed ? 'as observed' : 'as configured'}`],
    ]),
    table('What the rules say', [['opinion', (r) => r.opinion], ['rule', (r) => r.rule, 'left'], ['because', (r) => r.why, 'wide'], ['where', (r) => r.where || '–', 'left']], why.rules),
    table('Settings of its next visit that are not the defaults', [['key', (r) => r.key], ['value', (r) => r.value, 'left'], ['set in', (r) => r.origin, 'left']], why.settings || []),
  ];
}

// whyNot shows what keeps a URI out.
async function whyNot(uri) {
  const answer = await optional('why-not?uri=' + encodeURIComponent(uri));
  if (!answer) return notice('', `${uri} is not known, and is no URI that could be.`);
  return [
    notice('', 'It is not known' + (answer.out ? ': ' + answer.out : '') + '.'),
    table('What the rules say', [['opinion', (r) => r.opinion], ['rule', (r) => r.rule, 'left'], ['because', (r) => r.why, 'wide'], ['where', (r) => r.where || '–', 'left']], answer.rules),
  ];
}

function visits(list) {
  return table('The newest first', [
    ['time (UTC)', (v) => moment(v.at)], ['status', (v) => v.status], ['found', (v) => v.state, 'left'], ['size', (v) => bytes(v.size)], ['overdue', (v) => span(v.overdue_seconds)],
    ['next after', (v) => span(v.wait_seconds)], ['notes', (v) => v.notes || '', 'wide'],
  ], list.slice().reverse().slice(0, 200));
}
