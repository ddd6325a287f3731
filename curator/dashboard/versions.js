// Archived versions of a URI: the list, and the page that shows one of them.
import { h, ask, optional, count, may, moment, near, plural, table, notice, uriLink } from './page.js';
import { chips, details } from './change.js';

const query = (uri, at) => 'u=' + encodeURIComponent(uri) + (at ? '&at=' + encodeURIComponent(at) : '');

// rendered shows the picture of a page as a browser has shown it. It leads to the version.
export const rendered = (picture) =>
  picture &&
  h(
    'a',
    { class: 'thumb', href: '#/view?' + query(picture.uri, picture.at) },
    h('img', { src: '/api/v1/picture?' + new URLSearchParams({ uri: picture.uri, at: picture.at, rendered: 'true' }), alt: 'The page as a browser showed it', loading: 'lazy', onerror: (e) => e.target.closest('a').remove() }),
    h('span', { class: 'more' }, 'Rendered ', near(dateOf(picture.at))),
  );

// dateOf returns the time of a timestamp of 14 digits.
const dateOf = (at) => at.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z');

// renderedOf shows the picture of a URI.
export async function renderedOf(uri) {
  const known = await optional('versions?uri=' + encodeURIComponent(uri));
  return known?.picture && rendered({ uri, at: known.picture });
}

const few = 10; // versions that are shown at once
const most = 100; // versions that are shown at all

// history returns what changed on a page from version to version, to be read downward, to its first version.
function history(known, versions) {
  if (!known?.captures.length) return null;
  const first = !known.more && versions?.count === versions?.versions.length ? versions?.versions.at(-1) : null;
  return [
    h('h2', {}, 'What changed'),
    h('ol', { class: 'stream history', 'aria-label': 'Changes, newest first' }, known.captures.map(step), first ? published(first) : null),
    known.more ? h('p', { class: 'more' }, `These are the last ${plural(known.captures.length, 'change')}.`) : null,
  ];
}

// step shows one change.
function step(c) {
  const at = c.at.slice(0, 19).replace(/[^0-9]/g, '');
  const link = (page, name, more) => h('a', { href: `#/${page}?` + query(c.uri, at) + more, 'aria-label': `${name} the version of ${moment(c.at)}` }, name.toLowerCase());
  return h(
    'li',
    {},
    h('time', { datetime: c.at, title: moment(c.at) + ' UTC' }, moment(c.at).slice(0, 16)),
    h('div', { class: 'what' }, h('div', { class: 'more' }, chips(c.change), `version\u00a0${count(c.versions)}`), details(c.change, 5)),
    h('span', { class: 'see' }, c.change.before ? link('compare', 'Compare', '&before=' + c.change.before) : null, link('view', 'View', '')),
  );
}

// published shows the first version, with which a history begins.
const published = (v) =>
  h(
    'li',
    {},
    h('time', { datetime: v.date, title: moment(v.date) + ' UTC' }, moment(v.date).slice(0, 16)),
    h('div', { class: 'what' }, h('div', { class: 'more' }, h('span', { class: 'kind' }, 'first capture'), ' version\u00a01')),
    h('span', { class: 'see' }, h('a', { href: v.links.view, 'aria-label': `View the first version, of ${moment(v.date)}` }, 'view')),
  );

// versionList returns what changed on a page, and a list of its versions with links to see and to compare them.
export async function versionList(uri) {
  const named = 'uri=' + encodeURIComponent(uri);
  const [known, changed] = await Promise.all([optional('versions?' + named), optional(`new?change=any&limit=${most}&${named}`)]);
  const changes = history(changed, known);
  if (!known) return changes || [];
  const rest = known.versions.slice(few, most);
  return [
    changes,
    h('h2', {}, 'Versions'),
    known.problem ? notice('warn', known.problem) : null,
    versions('Versions, newest first', known.versions.slice(0, few)),
    rest.length ? h('details', {}, h('summary', {}, known.count > most ? `Earlier versions: the newest ${rest.length} of ${count(known.count - few)}` : plural(rest.length, 'earlier version')), versions('Earlier versions', rest)) : null,
  ];
}

const versions = (caption, list) =>
  table(
    caption,
    [
      ['time (UTC)', (v) => moment(v.date)],
      ['content', (v) => (v.changed ? h('strong', {}, 'changed') : h('span', { class: 'more' }, 'the same')), 'left'],
      [
        'see',
        (v) => {
          const link = (name, to, what) => to && h('a', { href: to, 'aria-label': `${what} the version of ${moment(v.date)}` }, name);
          return h('span', { class: 'links' }, link('view', v.links.view, 'View'), link('compare', v.links.compare, 'Compare'), link('record', v.links.record, 'Record of'), link('download', may('curate') && v.links.package, 'Download'));
        },
        'left',
      ],
      ['status', (v) => v.status || '–'],
      ['WARC file', (v) => h('code', {}, `${v.file} at ${v.offset}`), 'wide'],
    ],
    list,
    'The archive has no version.',
  );

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
        ? h('a', { class: 'button primary', href: v.version.links.compare }, 'Compare with the version before')
        : null,
      h('a', { class: 'button', href: v.version.links.record }, 'Record'),
      may('curate') ? h('a', { class: 'button', href: v.version.links.package }, 'Download') : null,
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
