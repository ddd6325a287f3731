// Package feeds reads feeds and sitemaps, and says what in them is new and when to ask again.
//
// A feed or sitemap (a source, here) is a URI like any other. It is fetched, archived and logged as all are; only what its
// content means for other URIs, and for its own next visit, is decided here. Nothing in this room touches the network, the
// store or the clock.
//
// # What is read
//
// [Read] takes RSS 0.9x, 1.0 and 2.0, Atom, JSON Feed, sitemaps with their news, image and video extensions, sitemap
// indexes, and sitemaps in plain text; compressed by gzip or not, in any encoding that browsers know. What is broken is
// read as far as it goes: a feed that was cut keeps the items before the cut.
//
// # What is new
//
// A [Seen] is the bounded memory of a source: of each item a hash of its id, one of its link, the last date that it had and
// a hash of its text. An item is new when neither its id nor its link is known; dates have no say in that, so that a date in
// the future, a missing one, or one that equals another's, hides nothing. A known item is updated when its date moves
// forward, or its text differs. A feed that deals out new ids for old items is seen through by their links and dates.
//
// # When to ask again
//
// A [State] is what is learned of a source: how many items an hour are new, how many it lists at once, what it asks for
// itself. [Policy.Next] turns that into a wait. Three things hold whatever a source does:
//
//   - The wait stays below half the time in which the source would have replaced all that it lists, as far as
//     [Waits].Min allows. When nothing of what was listed last time is listed now, items were missed: [Reading].Gap says
//     so, and the source is asked four times as often until its readings overlap again.
//   - What a source asks for (ttl, skipHours, skipDays, sy:updatePeriod, Cache-Control) lengthens a wait at most to
//     [Policy].HintsUpTo, and never beyond the time in which items would be missed.
//   - A source that has brought nothing new for [Policy].SilentAfter, or cannot be read any more, goes to the slow lane; its
//     wait says so, and stays finite.
//
// # Claims
//
// That a known URI was modified is a claim. A source's claims are remembered, at most [maxClaims] of them, until their URIs
// were visited, and then counted as right or wrong; [State.Belief] is the share that may be expected to be right. The more a
// source is believed, the sooner its claims make a URI due.
//
// # Invariants
//
//   - Reading takes time in proportion to the content, at most [Bounds].MaxBytes of it, and gives at most [Bounds].MaxItems
//     items.
//   - A Seen is at most [maxSeen] items long, a State at most some kilobytes.
//   - What [Seen.Bytes] and [State.Bytes] wrote can be read by all later versions.
package feeds
