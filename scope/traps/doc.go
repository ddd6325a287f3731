// Package traps recognises parts of a host that would never come to an end, by what their pages were seen to hold, and
// keeps them out of the crawl until a curator says otherwise.
//
// # What a trap is
//
// A family is a set of URIs of one host that differ only in what a program fills in: a date, the values of query
// parameters, a further folder, a session id. A family is no trap because it is large: a trap is one whose pages go on and
// name nothing. So each kind of family is watched for visits in a row that were barren: pages on which every link that
// leads out of the family was seen on its pages before. Pages of an archive by date, of a pagination or of tags name
// articles, each page others, and are never barren for long.
//
//   - repeats: a folder or a sequence of folders stands three times in a row in the path. Known by the URI alone.
//   - growth: pages in the folders of pages, each with folders of its own, barren, and none an end or with a file.
//     [GrowthSuspect] in a row make them suspect: from then on only pages are visited in deeper folders than all before, for a
//     tree that somebody keeps comes to an end after a few. [GrowthRow] in a row over [GrowthGenerations] folders make it certain.
//   - calendar: URIs that differ in nothing but a date, found on one another, [CalendarRow] barren ones in a row. What lies
//     between the dates of pages that did name something, and the present month, is not part of the trap.
//   - facets: at least three query parameters of few values each on one path, whose combinations are many times more
//     than the values of any of them, [FacetsRow] barren ones in a row. Fewer than two of them together are not part of it.
//   - session: the same page, but for what looks like an id, under URIs that differ in nothing but what looks like an id,
//     [SessionProofs] times and never another page. The URIs become one by a rewrite of names; the first one is visited.
//   - farm: pages that invent each other. A family is here all that lies below one first folder. Such a page names at least
//     three others of its family, three quarters of which nobody has named before, none below itself, and nothing else that
//     was not known. [FarmSuspect] in a row, each found on another of the family, make it suspect: from then on only pages are
//     visited that were found deeper in it than all before, for a list of any size comes to an end after a few steps and a
//     farm does not. [FarmRow] in a row over [FarmGenerations] steps make it certain. One page that does not invent ends it.
//     A family is never one that a feed or sitemap lists a page of, that another page lists [listMembers] pages of at once,
//     or of which another page names one that only the family had named; a trap that is found to be so later is released.
//     Only what pages of the farm name is part of it.
//   - soft404: a page that came with status 200 under [SoftPaths] paths of the host, byte for byte. It is what the host
//     says in the place of "not found". The answer to the host's root is never one.
//
// # Life of a trap
//
// [Store.Learn] is told of each page that was read because it was new or had changed, and gives the traps that this made
// certain, and those that it refuted. From then on [Store.Judge] finds the URIs that are part of one: they are not visited, and the first of them stay
// in the frontier. [Store.Release] ends a trap for good: the same pattern is not taken for one again.
//
// # Bounds
//
// Of each host at most [maxFamilies] families and [maxFarms] farms of some two kilobytes each and [maxTraps] traps are kept, of
// which the family that was not met for longest goes first. Where others have spoken for more than [maxVouched] families no
// farm is looked for. The same pages in the same order give the same traps; no clock and no chance has a part in it.
//
// The book keeps its rows in a store that belongs to someone else, all of their keys beginning with "pt". It is told of a
// visit before the frontier is: after a crash between the two the visit is made, and told, again.
package traps
