// Package frontier remembers every URI and every host, and knows what is due and may be visited now.
//
// It is the only place where politeness is decided, and it keeps its decisions on disk. Time is an argument of every
// method; the package starts no goroutine and never asks the clock. docs/frontier.md says more about the order of
// visits, steering, safety and formats.
//
// # A URI
//
// A URI becomes known through [Frontier.Add], a [Settlement], [Frontier.Divert] or [Frontier.Import], and only an
// operator can remove it. While its Due is set it has exactly one place in the queue of its host, unless an operator
// holds it. With a zero Due it is visited on demand only, as robots.txt is. Finding a known URI again changes nothing,
// unless the [Candidate] asks for a visit sooner.
//
//	            Add, Found                 Claim                  Settle, Due set
//	(unknown) ─────────────▶ waiting ─────────────▶ claimed ──────────────────────▶ waiting
//	                            ▲                     │ │
//	                            └─────────────────────┘ └─────────────────────────▶ on demand
//	                   Release, Abandon, Divert, crash        Settle, Due zero
//
// A claimed URI keeps its place in the store. So a crash returns every claim to the queue without repair, at the price
// of at most one repeated visit.
//
// # A host
//
// A host has as many slots as its valence says, by default one. A visit takes one slot, from its claim until the claim
// ends. After a visit the slot sleeps for the politeness delay; other slots are not affected. The whole host rests if
// it asked for that (Retry-After), if it could not be reached, and after an unclean stop. Seen from outside a host is:
//
//	paused   an operator paused it
//	ready    its first URI is due, a slot is free and awake, and the host does not rest
//	snoozed  one of these comes later; NextReady returns when, for the earliest host
//	busy     all slots are claimed, or a diverted claim is in progress; also a paused host until its visits have ended
//	idle     its queue is empty
//
// Only events move a host between these states, and time, which turns snoozed into ready:
//
//	   idle ── a URI is added, settled or released ──▶ snoozed, or ready if it is due
//	  ready ── a claim takes the last slot ──▶ busy    ── a claim takes the last URI ──▶ idle
//	snoozed ── time ──▶ ready
//	   busy ── a settlement or release frees a slot ──▶ ready, snoozed or idle
//	    any ── Pause ──▶ paused, once no slot is claimed  ── Resume ──▶ ready, snoozed or idle
//
// A host answers while its visits are fast; a new one, one that cannot be reached and a slow one do not. With
// [Options].MaxDoubtful, the number of claims of hosts that do not answer is bounded, whatever is due.
//
// Hosts with the same [Options].Group share their politeness, as if one server was behind them. The
// host that has been ready longest goes first. Within a host, urgent URIs go first, then feeds, then the others in the
// order of their due times; if four or more are due, [Options].Order decides. Every kind has its share of the choices,
// so that nothing waits forever.
//
// # The life of a claim
//
//	f.Add(now, frontier.Candidate{URI: seed, Seed: seed.String()})
//	c, ok, err := f.Claim(now)    // if it is not ok, ask again at f.NextReady(), or after the next Add or Settle
//	// visit c.Record.URI, archive the visit, write its log line
//	f.Settle(c, frontier.Settlement{Record: after, Finished: end, Took: took, Politeness: politeness, Found: links})
//
// [Frontier.Claim] returns a [Claim], and exactly one of four calls ends it: [Frontier.Settle] after a visit,
// [Frontier.Abandon] after a visit that failed on our side, [Frontier.Release] without a visit, or [Frontier.Divert].
// Divert spends the slot on another URI of the same host, normally robots.txt, and returns a new claim; meanwhile the
// host hands out nothing else. A claim that has ended, or that another run made, is stale: the call returns [ErrStale]
// and changes nothing. If the store fails, the call changes nothing either, and the claim is still valid; only
// [ErrFull] ends it. There is no lease: a claim that nobody ends keeps its slot until the frontier is closed.
//
// # What is on disk when
//
// A settlement is one transaction, which it may share with others of the same moment. It holds the history, the due
// time, the host's rest, new URIs, and what follows from a new robots.txt. If that is too long for one transaction,
// new and reopened URIs are written first, in batches, and the settled URI last. A crash in between repeats the visit
// and loses nothing. When Settle returns, a crash of the process cannot undo it; when [Frontier.Sync] returns, a power
// failure cannot. Call Settle only after the records of the visit are on disk and its log line is written.
//
// If the store was not closed properly, or with claims in progress, requests may have been in flight. Every host then
// rests for [Options].RestAfterCrash, for its last politeness delay or for [Options].LongestDelay, whichever is
// longest. If nothing was claimed since the opening before, no request can have been in flight, and nothing is added to
// the rests that were in force.
//
// # Locks and caches
//
// An arrow leads from a lock to those that may be taken while it is held. Every cache can be rebuilt from the store.
//
//	Frontier.mu ──┬──▶ settlements.mu    settlements that wait to share a transaction
//	              ├──▶ robotsCopies.mu   cache: copies of robots.txt; a settlement with a new one drops the old one
//	              ├──▶ knownURIs.mu      cache: hashes of URIs in the store; Forget drops them
//	              ├──▶ views.mu          cache: the read transaction that readers share; every commit drops it
//	              └──▶ synced.mu         only before the first claim
//	synced.mu ─────────▶ views.mu        synced.mu guards what is synced, and is held during Sync
//	verification.mu                      guards how far Verify has come
//
// Frontier.mu guards the hosts in memory: slots, rests, counters, groups, and the heap that orders hosts by the time
// when they are ready. It also guards what memory knows of each queue, which every commit updates:
//
//	the queue on disk    place │ place  place  place … │ place  place … │ …
//	all hosts            head  │ ahead: 12 to 48       │
//	crowded hosts        pool: up to 256 due URIs to choose from; places read ahead to fill it
//	urgent URIs, feeds   a list of places each, up to 1,024
//
// Frontier.mu is held while a transaction is written, so there is one writer at a time, and memory agrees with the
// disk whenever it is free. A change works on drafts of hosts, which replace the hosts after the commit. Nobody holds
// it while looking up the links of a page or walking over URIs.
//
// # Invariants
//
// [Frontier.Check] verifies them, and every test calls it:
//
//   - a URI has a place in its host's queue exactly if its Due is set and nobody holds it, and only one;
//   - no place is below the host's watermark, where reading of its queue begins (a queue that is read from its head
//     would skip the remains of all earlier visits, which costs milliseconds for each claim);
//   - a URI is in the list of forbidden ones exactly if its record says so;
//   - the counters of a host agree with its URIs, and a host is in exactly one state;
//   - a URI is claimed at most once, and the next URI of a host is its first unclaimed one;
//   - the places of a queue in memory are the same as in the store.
//
// # Texts and times
//
// Times are kept to the microsecond and returned in UTC. Due is kept to the millisecond, rounded up so that it is
// never early, and is at most ten years ahead. Texts may hold any bytes; one that is longer than [MaxText] is stored
// empty.
//
// # Damage
//
// Badger itself would end the process on some kinds of damage and ignore others. So [Open] first makes sure that no
// table is missing, that all can be opened, and that the newest ones are whole: a crash can have damaged only these.
// [Frontier.Verify] compares older data with its checksums piece by piece, and [Frontier.Check] all at once. Check
// also finds damage that breaks an invariant but no checksum.
package frontier
