// Archived versions of a URI: the list, and the page that shows one of them.
import { h, ask, optional, count, moment, table, notice, uriLink } from './page.js';

const query = (uri, at) => 'u=' + encodeURIComponent(uri) + (at ? '&at=' + encodeURIComponent(at) : '');

// versionList returns a list of the versions of a URI, with links to see and to compare them.
export async function versionList(uri) {
  const known = await optional('versions?uri=' + encodeURIComponent(uri));
  if (!known) return [];
  const shown = known.versions.slice(0, 100);
  return [
    h('h2', {}, 'Versions'),
    known.problem ? notice('warn', known.problem) : null,
    table(
      known.count > shown.length ? `Versions: the newest ${shown.length} of ${count(known.count)}` : 'Versions, newest first',
      [
        ['time (UTC)', (v) => moment(v.date)],
        [
          'see',
          (v) => [
            h('a', { href: v.links.view, 'aria-label': 'View the version of ' + moment(v.date) }, 'view'),
            ' ',
            v.links.compare
              ? h('a', { href: v.links.compare, 'aria-label': 'Compare the version of ' + moment(v.date) }, 'compare')
              : null,
            ' ',
            h('a', { href: v.links.record, 'aria-label': 'Record of the version of ' + moment(v.date) }, 'record'),
            ' ',
            h('a', { href: v.links.package, 'aria-label': 'Download the version of ' + moment(v.date) }, 'download'),
          ],
          'left',
        ],
        ['status', (v) => v.status || '–'],
        ['payload', (v) => (v.changed ? 'changed' : 'the same'), 'left'],
        ['WARC file', (v) => h('code', {}, `${v.file} at ${v.offset}`), 'wide'],
      ],
      shown,
      'The archive has no version.',
    ),
  ];
}

// viewPage shows one version in a frame of another origin, from which it cannot reach this page.
export async function viewPage(again, wanted) {
  const uri = wanted.get('u') || '';
  const at = wanted.get('at') || '';
  const v = await ask('view?uri=' + encodeURIComponent(uri) + '&at=' + encodeURIComponent(at));
  const step = (name, to) =>
    to ? h('a', { class: 'button', href: '#/view?' + query(v.uri, to) }, name) : h('span', { class: 'button off' }, name);
  return [
    h('h1', { class: 'long' }, 'Version of ' + moment(v.version.date)),
    h('p', { class: 'long' }, uriLink(v.uri)),
    h(
      'div',
      { class: 'row versions', role: 'navigation', 'aria-label': 'Versions' },
      step('Earlier', v.earlier),
      step('Later', v.later),
      v.version.links.compare
        ? h('a', { class: 'button', href: v.version.links.compare }, 'Compare with the version before')
        : null,
      h('a', { class: 'button', href: v.version.links.record }, 'Record'),
      h('a', { class: 'button', href: v.version.links.package }, 'Download'),
      h('a', { class: 'button', href: v.uri, target: '_blank', rel: 'noopener noreferrer' }, 'Live page'),
      h(
        'span',
        {},
        `${count(v.number)} of ${count(v.count)}, status ${v.version.status || '–'}, ` +
          (v.number === 1 ? 'the first version' : (v.version.changed ? 'changed since' : 'the same as') + ' the version before'),
      ),
    ),
    v.problem ? notice('warn', v.problem) : null,
    v.no_scripts
      ? notice(
          '',
          'The scripts of this page do not run: archived pages have the host name of the dashboard. Set admin.replay_url to an address with another one.',
        )
      : null,
    v.frame
      ? opening(h('iframe', {
          class: 'version',
          sandbox: 'allow-scripts allow-same-origin allow-forms',
          referrerpolicy: 'no-referrer',
          title: `The archived page ${v.uri} as of ${moment(v.version.date)}`,
          src: v.frame,
        }))
      : null,
  ];
}

// opening lets a link in a frame lead to the version of another page. An archived page can ask for it too: all that
// comes of it is that this page shows another version, with a ticket of its own.
function opening(frame) {
  const open = (event) => {
    if (!frame.isConnected) removeEventListener('message', open);
    else if (event.source === frame.contentWindow && typeof event.data?.view === 'string')
      location.hash = '#/view?' + query(event.data.view, String(event.data.at || ''));
  };
  addEventListener('message', open);
  return frame;
}
