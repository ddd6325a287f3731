// The page of the records of one version, as the WARC file has them. Their texts are only ever text.
import { h, ask, bytes, count, moment, notice, uriLink } from './page.js';

export async function recordPage(again, wanted) {
  const q = new URLSearchParams({ uri: wanted.get('u') || '', at: wanted.get('at') || '' });
  const r = await ask('record?' + q);
  const v = r.version;
  return [
    h('h1', { class: 'long' }, 'Record of ' + moment(v.date)),
    h('p', { class: 'long' }, uriLink(r.uri)),
    h(
      'div',
      { class: 'row versions', role: 'navigation', 'aria-label': 'This version' },
      h('a', { class: 'button', href: v.links.view }, 'View'),
      h('a', { class: 'button', href: v.links.package }, 'Download'),
    ),
    r.problem ? notice('warn', r.problem) : null,
    (r.notes || []).map((text) => notice('', text)),
    r.parts.map((p) => part(p, '')),
    r.original
      ? [
          h('h2', {}, 'Record with the content'),
          h('p', {}, 'The content did not change. It is in the record of an earlier visit:'),
          r.original.map((p) => part(p, ' of the content')),
        ]
      : null,
  ];
}

const titles = { request: 'Request', response: 'Response', revisit: 'Revisit', metadata: 'Metadata', resource: 'Resource' };

// part shows one record. of distinguishes its name from others.
function part(p, of) {
  const title = titles[p.type] || p.type || 'Record';
  const name = title + of;
  const text = (label, content) =>
    content
      ? [h(of ? 'h4' : 'h3', {}, label), h('pre', { class: 'panel long', tabindex: '0', role: 'region', 'aria-label': `${label}: ${name}` }, content)]
      : null;
  return h(
    'section',
    { 'aria-label': name },
    h(of ? 'h3' : 'h2', {}, title),
    h('p', { class: 'more' }, h('code', {}, `${p.file} at ${count(p.offset)}`), `, block of ${bytes(p.size)}`),
    text('WARC header', p.header),
    text(p.type === 'metadata' ? 'Text' : 'HTTP head', p.head),
    p.truncated ? notice('', 'Only the first 64 kB are shown.') : null,
  );
}
