// Package feeds reads feeds and sitemaps, finds out what is new in them, and decides when to visit them again.
//
// A feed or sitemap (here: a source) is a URI like any other. It is fetched, archived and logged like all others. This
// package only decides what its content means for other URIs and for its own next visit. It does not use the network,
// the store or the clock; what a [Subscriber] says to hubs, and hears from them, is sent and served by others.
//
//	doc, err := feeds.Read(ctx, self, contentType, awaited, content, feeds.Bounds{}) // the items
//	seen, reading := seen.Read(now, doc)                                        // the new and updated ones
//	state = state.After(now, doc, reading, right, wrong)                        // what was learned about the source
//	wait := policy.Next(state, now, feeds.CacheHint(header))                    // when to visit it again
//
// # Formats
//
// [Read] accepts RSS 0.9x, 1.0 and 2.0, Atom, JSON Feed, sitemaps with their news, image and video extensions, sitemap
// indexes, and sitemaps in plain text. They may be compressed by gzip, and be in any encoding that browsers know. A
// broken source is read as far as possible: a feed that was cut keeps the items before the cut.
//
// # New items
//
// A [Seen] is the bounded memory of a source. Of each item it holds a hash of its id, a hash of its link, its last date
// and a hash of its text. An item is new if neither its id nor its link is known. Dates do not matter for that, so a
// date in the future, a missing date or an equal date hides nothing. A known item is updated if its date moves forward
// or its text changes. If a feed assigns new ids to old items, their links and dates reveal it.
//
// # Next visit
//
// A [State] holds what was learned about a source: how many items per hour are new, how many it lists at once, which
// hints it has. [Policy.Next] turns that into a wait. Three rules always hold:
//
//   - The wait stays below half the time in which the source replaces its whole list, as far as [Waits].Min allows. If
//     nothing on the list was there at the last reading, items were missed: [Reading].Gap is set, and the source is
//     visited four times as often until its readings overlap again.
//   - The hints of a source (ttl, skipHours, skipDays, sy:updatePeriod, Cache-Control) lengthen a wait to
//     [Policy].HintsUpTo at most, and never so far that items would be missed.
//   - A source that has listed nothing new for [Policy].SilentAfter, or is no longer readable, moves to the slow lane.
//     The reason of its wait says so, and the wait stays finite.
//
// # Statements
//
// A source that lists a known URI as modified makes a statement. At most 64 statements of a source are remembered until
// their URIs have been visited, and then counted as right or wrong. [State.Belief] is the share of statements that is
// expected to be right. The more a source is believed, the sooner its statements make a URI due.
//
// # Sources that are followed
//
// A source with dates or texts of three pages of its host is an index, and so is a seed or section with headlines of
// three pages, if the host has few indexes.
// [evaluators.Index] records what its word is worth, and decides whether it is followed. The pages of an index that is
// followed wait longer than their rule says. A page that a visit found changed is remembered until readings show
// whether the index says so. When an index is no longer followed, the visit that found it out makes its pages due by
// their own waits. A page that a feed or front page does not list any more returns to its own wait, too.
//
// # Invariants
//
//   - Reading takes time in proportion to the content. It reads at most [Bounds].MaxBytes and returns at most
//     [Bounds].MaxItems items.
//   - A Seen holds at most 50,000 items, a State a few kilobytes.
//   - All later versions can read what [Seen.Bytes] and [State.Bytes] return.
package feeds
