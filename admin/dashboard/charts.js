// Charts over time, each with a table of the same numbers for screen readers.
import { h, count, table } from './page.js';

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// chart draws lines: each is [label, values, color variable]. The value -1 is unknown and leaves a gap. A stacked chart shows
// parts of a total.
// step is the distance of two points in seconds.
export function chart(step, title, times, lines, write = count, stacked = false) {
  const box = h('div', {});
  const known = lines.map(([, values]) => values.map((v) => (v < 0 ? null : v)));
  const frame = h('section', { class: 'chart' }, h('h3', {}, title), box, numbers(title, times, lines, write));
  const drawn = stacked ? stack(known) : known;
  const least = (from, to) => [from, Math.max(to, from + 10 * step)];
  requestAnimationFrame(() => {
    const plot = new uPlot(
      {
        width: Math.max(240, box.clientWidth),
        height: 200,
        tzDate: (t) => uPlot.tzDate(new Date(t * 1000), 'Etc/UTC'),
        scales: {
          x: { range: (_, from, to) => (times.length < 2 ? least(times[0], 0) : least(from, to)) },
          y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
        },
        axes: [
          {
            stroke: color('--quiet'),
            grid: { stroke: color('--chart-grid') },
            ticks: { stroke: color('--line') },
            space: 80, // so that times with seconds do not touch
            values: (_, ticks) => ticks.map((t) => clock(t, ticks)),
          },
          {
            stroke: color('--quiet'),
            grid: { stroke: color('--chart-grid') },
            ticks: { stroke: color('--line') },
            size: 76,
            values: (_, ticks) => ticks.map((t) => write(t)),
          },
        ],
        series: [
          { label: 'UTC' },
          ...lines.map(([label, , name], i) => ({
            label,
            stroke: color(name),
            width: 1.6,
            spanGaps: false,
            points: { show: times.length < 3 },
            fill: stacked ? color(name) + '55' : undefined,
            value: (_, __, ___, at) => (at === null || known[i][at] === null ? '–' : write(known[i][at])),
          })),
        ],
      },
      [times, ...drawn],
      box,
    );
    new ResizeObserver(() => plot.setSize({ width: Math.max(240, box.clientWidth), height: 200 })).observe(box);
  });
  return frame;
}

// clock formats a tick of the time axis: the time of day, or the date at midnight.
function clock(t, ticks) {
  const text = new Date(t * 1000).toISOString();
  const days = ticks.length > 1 && ticks[1] - ticks[0] >= 86400;
  if (days || t % 86400 === 0) return text.slice(5, 10);
  return ticks.length > 1 && ticks[1] - ticks[0] < 60 ? text.slice(11, 19) : text.slice(11, 16);
}

// stack adds up rows, so that each is drawn on top of the ones after it.
function stack(rows) {
  return rows.map((row, i) => row.map((_, at) => rows.slice(i).reduce((sum, r) => sum + (r[at] || 0), 0)));
}

// numbers returns a table of at most 24 steps.
function numbers(title, times, lines, write) {
  const every = Math.max(1, Math.ceil(times.length / 24));
  const steps = times.map((t, i) => i).filter((i) => i % every === 0);
  return h(
    'details',
    {},
    h('summary', {}, 'As a table'),
    table(
      title + (every > 1 ? `, every ${every}th step` : ''),
      [
        ['UTC', (i) => new Date(times[i] * 1000).toISOString().slice(0, 16).replace('T', ' ')],
        ...lines.map(([label, values]) => [label, (i) => (values[i] < 0 ? '–' : write(values[i]))]),
      ],
      steps,
    ),
  );
}
