// Package spaces judges the query parameters of each host: which of them say nothing about the page, and which span a
// space of URIs that never ends.
//
// # Parameters that say nothing
//
// A session id or a number that keeps caches from answering is different in each link, and the page is the same. Only
// values that look generated are looked at: ids of letters and digits, times, fractions and long numbers. If another
// value brought the same content for the same URI [ParameterProofs] times, and hardly ever another content, then the
// parameter says nothing on the whole host. A page proves less than a script or a picture, because one page can be the
// answer to all ids that do not exist: it takes two different pages, or [PageProofs] times. A parameter is real, and
// stays so, if a page links to the same URI with three of its values, or a feed or sitemap lists two.
//
// # Query spaces
//
// A pattern is all URIs of a host with the same path, except for numbers and ids in it, and the same names of
// parameters. Its pages that were found on pages of the same path are inside. A page inside is barren if it has hardly
// any text that was not on other pages of the pattern, no link out of it that is new to them, and three quarters of its
// links into the pattern were named by nobody before. [QueryRow] barren pages in a row over [QueryGenerations] steps
// make the pattern a query space. One page that is not barren ends the row, so that lists, catalogues and articles by
// number are not a query space. A pattern is never one if a feed or sitemap lists a page of it.
//
// # Budgets
//
// Until a pattern is proven, first visits of pages inside have a budget: [Base], and one for each page that was not
// barren, up to [MaxWords] where words are its parameters and [MaxNumbers] where numbers are. If at least a tenth of
// the pages was linked from a second page before it was visited, each page that was not barren counts twice and
// without that bound. One visit in [Trickle] of the host is added, so that nothing waits forever. Pages that others
// name, seeds and entries of feeds and sitemaps need no budget. While first visits are put off, and for [Doubt] after,
// all pages inside that were visited before share one visit in [Trickle], unless the pages are linked from a second
// page.
//
// # Bounds
//
// The parameters and patterns of a host are bounded in number; a pattern takes some four kilobytes. Further patterns
// share one budget. The store keeps its rows in another package's database; all of their
// keys begin with "pQ". What was learned since the last [Store.Flush] is lost in a crash, and learned again.
package spaces
