// Package traps finds parts of a host that never end, by what their pages contain, and keeps them out of the crawl
// until a curator decides otherwise.
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
//
// # Life of a trap
//
// [Store.Learn] reads each page that is new or has changed. It returns the traps that are certain now, and those that
// are refuted. From then on [Store.Judge] finds the URIs that are part of a trap. They are not visited, and the first
// of them stay in the frontier. [Store.Release] ends a trap permanently: the same pattern never becomes a trap again.
//
// # Bounds
//
// The families, farms and traps of a host are bounded in number; a family or farm takes some two kilobytes. The family
// that was not visited for the longest time makes room for a new one. If others have vouched for very many families,
// the host is not searched for farms. The same pages in the same order find the same traps, without clock and chance.
//
// The store keeps its rows in another package's database; all of their keys begin with "pt". It learns of a visit
// before the frontier does. After a crash between the two, the visit is made and learned once more.
package traps
