// The visits to one URI over time, for its page.
import { h, optional, bytes, count, span, moment, table, notice } from './page.js';
import { timeline } from './timeline.js';

// visitsOf returns the visits to a URI from the crawl log.
export async function visitsOf(wanted, query) {
  const seconds = query.get('seconds') ? '&seconds=' + query.get('seconds') : '';
  const history = await optional('history?uri=' + encodeURIComponent(wanted) + seconds);
  return [
    h('h2', {}, 'Visits'),
    history
      ? [
          timeline(history.visits),
          history.complete ? null : older(history, wanted, query),
          h('details', {}, h('summary', {}, `All visits in a table (${count(history.visits.length)})`), visits(history.visits)),
        ]
      : notice('', 'This daemon does not read its log.'),
  ];
}

// older says which part of the log was searched, and offers to search longer.
const older = (history, wanted, query) =>
  h(
    'p',
    {},
    `These are the visits since ${moment(history.since)} UTC; older ones may be in parts of the log that were not read. `,
    query.get('seconds') ? null : h('a', { href: '#/uri?' + new URLSearchParams({ u: wanted, seconds: 10 }) }, 'Search further back'),
  );

function visits(list) {
  return table(
    'Visits, newest first',
    [
      ['time (UTC)', (v) => moment(v.at)],
      ['status', (v) => v.status],
      ['result', (v) => v.state, 'left'],
      ['size', (v) => bytes(v.size)],
      ['overdue', (v) => span(v.overdue_seconds)],
      ['next after', (v) => span(v.wait_seconds)],
      ['notes', (v) => (v.explanations || []).join('; '), 'wide'],
    ],
    list.slice().reverse().slice(0, 200),
  );
}
