// The pages that were captured last, for the page that searches.
import { h, ask, hostLink, near, uriLink, table } from './page.js';

const most = 200; // captures that are asked for
const shown = 25; // pages that are shown

// latestPages returns the pages that were captured last.
export async function latestPages() {
  const news = await ask(`new?type=text/html&limit=${most}`);
  const pages = [...new Map(news.captures.toReversed().map((c) => [c.uri, c])).values()].sort((a, b) => (a.at < b.at ? 1 : -1));
  if (!pages.length) return null;
  return [
    h('h2', {}, 'Newest'),
    table(
      'Pages captured last, newest first',
      [
        ['page', (c) => uriLink(c.uri, c.title), 'wide'],
        ['site', (c) => hostLink(c.host, news.sites[c.host]), 'wide'],
        ['versions', (c) => c.versions],
        ['captured', (c) => near(c.at)],
      ],
      pages.slice(0, shown),
    ),
  ];
}
