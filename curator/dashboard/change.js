// What a reader sees that changed from one version of a page to the next. All texts come from archived pages: they are
// only ever text.
import { h, count, plural } from './page.js';

// kinds are the kinds of changes in the words of a list to choose from.
export const kinds = [
  ['', 'all changes'],
  ['any', 'compared versions'],
  ['headline', 'headline changed'],
  ['text', 'text changed'],
  ['removed-20', 'at least 20 words removed'],
  ['links', 'links came or went'],
  ['pictures', 'pictures changed'],
  ['withdrawn', 'withdrawn'],
  ['moved', 'moved'],
  ['wall', 'behind a wall'],
  ['returned', 'returned'],
  ['nothing', 'nothing that a reader sees'],
];

// asked returns the parameters of a request for a kind.
export const asked = (kind) => (kind.startsWith('removed-') ? { removed: kind.slice(8) } : kind ? { change: kind } : {});

// size says what came and what went: "+3, −2 links".
function size(s, noun) {
  const parts = [s.added ? '+' + count(s.added) : '', s.removed ? '−' + count(s.removed) : ''].filter(Boolean);
  const last = s.removed || s.added;
  return parts.length ? `${parts.join(', ')} ${last === 1 ? noun : noun + 's'}` : '';
}

const words = {
  withdrawn: (c) => 'withdrawn' + (c.versions ? ' after ' + plural(c.versions, 'version') : ''),
  moved: () => 'moved',
  wall: (c) => 'behind a wall' + (c.wall ? ` (${c.wall})` : ''),
  returned: () => 'returned',
  headline: () => 'headline',
  text: (c) => size(c.words, 'word') || 'text',
  links: (c) => size(c.links, 'link') || (c.reworded ? plural(c.reworded, 'link') + ' reworded' : 'order of links'),
  pictures: (c) => size(c.pictures, 'picture') || 'pictures',
  around: () => 'around the article',
  nothing: () => 'nothing that a reader sees',
};

// chips name the kinds of a change with their sizes. What is around the article is named if it is all that changed.
export const chips = (c) =>
  c.kinds
    .filter((kind) => kind !== 'around' || c.kinds.length === 1)
    .map((kind) => [h('span', { class: 'kind ' + kind }, words[kind] ? words[kind](c) : kind), ' ']);

// marked returns a sentence with the words that went and came.
const marked = (parts) =>
  parts.map((p) => (p.removed ? h('del', {}, p.text) : p.added ? h('ins', {}, p.text) : p.text));

const link = (mark, l) =>
  h('li', {}, h(mark, {}, h('a', { href: '#/uri?u=' + encodeURIComponent(l.uri), dir: 'auto' }, l.text || l.uri)));

// details shows the old and the new headline, the first sentence that changed with its words marked, and the first
// links that came and went.
export function details(c, links) {
  const came = (c.came || []).slice(0, links);
  const went = (c.went || []).slice(0, links);
  const unshown = (n, list) => (n > list.length ? h('li', { class: 'more' }, `and ${count(n - list.length)} more`) : null);
  const parts = [
    c.headlines?.length ? h('p', { class: 'headlines' }, h('del', { dir: 'auto' }, c.headlines[0]), ' ', h('ins', { dir: 'auto' }, c.headlines[1])) : null,
    c.first?.length ? h('p', { dir: 'auto' }, marked(c.first)) : null,
    came.length + went.length
      ? h('ul', { class: 'entries' }, came.map((l) => link('ins', l)), unshown(c.links.added, came), went.map((l) => link('del', l)), unshown(c.links.removed, went))
      : null,
    c.to ? h('p', { class: 'long' }, 'to ', h('bdi', {}, c.to)) : null,
    c.problem ? h('p', { class: 'more' }, c.problem) : null,
    (c.notes || []).map((text) => h('p', { class: 'more' }, text)),
  ].flat().filter(Boolean);
  return parts.length ? h('div', { class: 'change' }, parts) : null;
}
