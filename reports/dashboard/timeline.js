// A drawing of the visits to one URI over time.
import { h, svg, moment, span } from './page.js';

const kinds = [
  ['changed', 'k1', 'new version'],
  ['unchanged', 'k3', 'unchanged'],
  ['unknown', 'k2', 'unknown'],
  ['failed', 'k4', 'failed'],
];

// timeline draws a mark for each visit; versions are taller.
export function timeline(visits) {
  if (visits.length === 0) return h('p', { class: 'panel' }, 'No visit in the crawl log.');
  const at = visits.map((v) => new Date(v.at).getTime());
  const first = at[0],
    last = Math.max(at[at.length - 1], first + 1000),
    width = 1000,
    left = 10;
  const x = (t) => left + ((t - first) / (last - first)) * (width - 2 * left);
  const versions = visits.filter((v) => v.state === 'changed').length;
  const drawing = svg('svg', {
    class: 'timeline',
    viewBox: `0 0 ${width} 92`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${visits.length} visits from ${moment(visits[0].at)} to ${moment(visits[visits.length - 1].at)}, ${versions} of them found a new version`,
  });
  drawing.append(svg('line', { x1: 0, x2: width, y1: 72, y2: 72, class: 'axis' }));
  visits.forEach((v, i) => {
    const kind = kinds.find(([state]) => state === v.state) || kinds[2];
    const tall = v.state === 'changed' ? 56 : v.state === 'failed' ? 40 : 22;
    const mark = svg('rect', { x: x(at[i]) - 1.5, y: 72 - tall, width: 3, height: tall, class: kind[1] });
    mark.append(svg('title', {}, `${moment(v.at)}: ${kind[2]}, status ${v.status}, next in ${span(v.wait_seconds)}`));
    drawing.append(mark);
  });
  return h(
    'div',
    {},
    drawing,
    h(
      'div',
      { class: 'legend' },
      h('span', {}, moment(visits[0].at) + ' UTC'),
      kinds.map(([, k, text]) => h('span', {}, h('i', { class: k }), text)),
      h('span', {}, moment(visits[visits.length - 1].at) + ' UTC'),
    ),
  );
}
