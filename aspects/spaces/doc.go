// Package spaces finds parts of a host that never end, by what their pages contain, and keeps them out of the crawl
// until a curator decides otherwise. A part that is certain is a [Trap].
//
// # Kinds of traps
//
// A family is a set of URIs of one host that differ only in parts that a program fills in: a date, the values of
// query parameters, a further folder, a session id. A large family is not yet a trap. It is one if its pages never
// end and name nothing new: every link that leads out of the family was seen on its pages before. So the visits in a
// row are counted that named nothing new. Pages of an archive by date, of a pagination or of tags name different
// articles each, so their rows stay short.
//
//   - repeats: a folder, or a sequence of folders, is three times in a row in the path. The URI alone shows it.
//   - growth: pages in the folders of pages, each with folders of its own, that name nothing new, no page without
//     folders and no file. [GrowthSuspect] in a row make the family suspect. From then on a page is visited only if
//     its folder is deeper than all before, because a tree that people maintain ends after a few folders. [GrowthRow]
//     in a row over [GrowthGenerations] folders make it certain.
//   - calendar: URIs that differ only in a date and were found on one another, [CalendarRow] in a row that name nothing
//     new. The time between dated pages that named something new is not part of the trap, and neither is the present
//     month.
//   - facets: at least three query parameters with few values each on one path. Their combinations are many times more
//     than the values of any of them, and [FacetsRow] in a row name nothing new. A URI with fewer than two of these
//     parameters is not part of the trap.
//   - session: the same page, except for parts that look like ids, under URIs that differ only in such a part. That was
//     seen [SessionProofs] times, and never another page. A naming rule makes the URIs one; the first one is visited.
//   - farm: pages that invent each other. Here the family is everything below one first folder. Such a page names at
//     least three pages of its family. Three quarters of them were named by nobody before, none is below the page
//     itself, and the page names nothing else that is new. [FarmSuspect] in a row, each found on another of the
//     family, make it suspect. From then on a page is visited only if it was found deeper in the family than all
//     before, because a list of any size ends after a few steps and a farm does not. [FarmRow] in a row over
//     [FarmGenerations] steps make it certain. One page that does not invent ends the row. A family is never a farm
//     if a feed or sitemap lists one of its pages, if another page lists many of its pages at once, or if
//     another page names a page that only the family had named. A trap that is refuted in this way later is released.
//     Only what pages of the farm name is part of it.
//   - soft404: a page with status 200 that is the same, byte for byte, under [SoftPaths] paths of the host. It is the
//     page with which the host says "not found". The answer to the host's root is never one.
//   - parameter: a query parameter that says nothing, see below.
//   - query: values of query parameters without end, see below.
//   - twin: a parameter with which pages link to themselves, such as print=1. A sample of the rows of words of the page
//     is compared with the one of its twin: [TwinProofs] pages whose twin had hardly any text of its own make it
//     certain. Where a feed or sitemap lists such a URI it never is.
//
// # Life of a trap
//
// [Store.Learn] reads each page that is new or has changed. It returns the traps that are certain now, and those
// that are refuted. From then on [Store.Judge] finds the URIs that are part of a trap. They are not visited, and
// the first of them stay in the frontier. [Store.Release] ends a trap permanently: the same pattern never becomes a
// trap again.
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
// The families, farms, parameters, patterns and traps of a host are bounded in number; a family or farm takes some two
// kilobytes, a pattern some four. The family that was not visited for the longest time makes room for a new one.
// Further patterns share one budget. Patterns of traps are bounded in length, and so is the work with which the links
// of one page are compared with them: the rest is compared when it is due. If others have vouched for very many
// families, the host is not searched for farms.
// The same pages in the same order find the same traps, without clock and chance.
//
// The rows are in another package's database. The store learns of a visit before the frontier does. After a crash
// between the two, the visit is made and learned once more.
package spaces
