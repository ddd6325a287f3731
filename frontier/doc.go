// Package frontier remembers every URI and every host, and knows what is due and may be visited now.
//
// It is the only place where politeness is decided, and it keeps what it decided on disk. Time is an argument of every
// method; the package starts no goroutine and never asks the clock.
//
// # A URI
//
// A URI is known from the moment that [Frontier.Add], a [Settlement] or [Frontier.Divert] brings it, and nothing but an
// operator makes the frontier forget it. While its Due is set it has exactly one place in the queue of its host, unless
// an operator holds it; with a zero Due it is visited on demand only, as robots.txt is. To find a known URI again changes
// nothing: it is neither promoted nor fetched early, unless the candidate asks for that with Sooner.
//
//	            Add, Found                 Claim                  Settle, Due set
//	(unknown) ─────────────▶ waiting ─────────────▶ claimed ──────────────────────▶ waiting
//	                            ▲                     │ │
//	                            └─────────────────────┘ └─────────────────────────▶ on demand
//	                   Release, Abandon, Divert, crash        Settle, Due zero
//
// A claimed URI keeps its place in the store. So a crash returns every claim to the queue without any repair, and the
// price is at most one repeated visit.
//
// # A host
//
// A host has as many slots as its valence says, one unless [Options].Valence knows better. One visit takes one slot,
// from its claim until it is settled, abandoned or released. After a settlement, or an abandoned visit, the slot sleeps for
// the politeness delay, counted from the end of the visit; other slots are not touched by that. The whole host rests when it asked for it
// (Retry-After), when it could not be reached (a ladder from one minute to one hour, during which its URIs keep their
// places), and after an unclean stop. Seen from outside a host is in one of five states:
//
//	paused   an operator has it hand out nothing
//	ready    its first waiting URI is due, a slot is free and awake, and the host does not rest
//	snoozed  one of these comes later; [Frontier.NextReady] tells when for the earliest host
//	busy     all slots are claimed, or a diverted claim is in progress; a paused host too, until its visits have ended
//	idle     no URI waits: its queue is empty
//
// A host moves between these states with every event, never by itself but for time, which turns snoozed into ready:
//
//	   idle ── a URI is added, settled or released ──▶ snoozed, or ready if it is due
//	  ready ── a claim takes the last slot ──▶ busy    ── a claim takes the last URI ──▶ idle
//	snoozed ── time ──▶ ready
//	   busy ── a settlement or release frees a slot ──▶ ready, snoozed or idle
//	    any ── Pause ──▶ paused, once no slot is claimed  ── Resume ──▶ ready, snoozed or idle
//
// Hosts that [Options].Group gives one name share their politeness, as if one server stood behind them. A slot that is
// claimed or asleep on any of them counts for all, up to the smallest of their valences, and a Retry-After of one holds for
// all; unreachable is each for itself. Their URIs stay in queues of their own, and of those that are ready the host goes
// first that has waited for longest.
//
// Readiness is a matter of due times only. Between hosts the one that has been ready for longest goes first, where a
// host is ready at the latest of: the due time of its first waiting URI, the wake time of its first free slot, the end of
// its rest. Nothing is handed out before that time.
//
// Inside a host urgent URIs go first, those that have been due for longest before the others; but of eight choices in a row
// one is made as if there were none, so that a flood of news stops nothing else. Prompt ones, the feeds that were read before,
// come next, three choices of four. A URI becomes urgent by its [Candidate] and stays so until a settlement says otherwise.
//
// Of the others the URI with the earliest due time goes first, unless four or more are due: then the host has more to do
// than its politeness allows, and [Options].Order decides, of each round of eight choices, five. One goes to the URI that
// has been due for longest, so that none waits for ever, one to seeds and feeds, and two to first visits; what one of
// these does not need the others have. At most 256 URIs of a host are weighed, and at most 16 records are read for a
// claim: with more than that due, a URI may be overlooked until the queue is read again, or until it is the one that has
// been due for longest.
//
// # The life of a claim
//
// [Frontier.Claim] hands out a [Claim], and exactly one of four calls ends it: [Frontier.Settle] after a visit,
// [Frontier.Abandon] after one that came to nothing, [Frontier.Release] when there was none, or [Frontier.Divert], which spends
// its slot on another URI of the same host and gives a new claim for that. A claim that was ended before, or that another run handed out, gets [ErrStale] and
// changes nothing. When the store fails, the call changes nothing either and the claim lives on. There is no lease:
// a claim that nobody ends keeps its slot until the frontier is closed.
//
// While a diverted claim is in progress its host hands out nothing else, since whatever it would hand out waits for
// the same robots.txt.
//
// # Steering
//
// An operator can look at and change what waits while the crawl goes on: [Frontier.List], [Frontier.Count] and
// [Frontier.Steer] walk over a [Selection] of URIs in small steps, with a [Cursor] between one and the next, and hold no lock
// while they read. [Frontier.SteerHosts] pauses hosts. An [Entry] is a URI with all its history, as JSON on one line;
// [Frontier.Import] takes it back. Holds and pauses are on disk like everything else.
//
// Nothing of this can make the crawler impolite or starve anybody: URIs that were made due go the way of all that are
// due, a host at a time as its slots allow, and what becomes due after them is weighed against them.
//
// # What is on disk when
//
// A settlement is one transaction, which it may share with others that come at the same moment: history, due time, the
// host's rest, newly found URIs, the copy of robots.txt, the URIs that a new robots.txt opens again. Only when it is too long for one (thousands of new links, hundreds of
// reopened URIs) are the found and reopened ones written first, in bounded portions, and the settled URI itself last; a
// crash in between repeats the visit and loses nothing. When Settle returns, a crash of the process cannot undo it. A
// power failure can, until [Frontier.Sync] returns. Call Settle only after the records of the visit are on disk and
// its log line is written.
//
// When the frontier is opened and was not closed properly, or was closed with claims in progress, requests may have
// been in flight whose end nobody knows; every host then rests for [Options].RestAfterCrash, or for as long as after its last visit if that
// was more.
//
// # Invariants
//
// [Frontier.Check] verifies them, and every test runs it:
//
//   - a URI has a place in its host's queue exactly when its Due is set and nobody holds it, and only one;
//   - no place lies below the host's watermark, from which its queue is read (a queue read from its head would pass
//     over the remains of all earlier visits, which costs milliseconds for each claim);
//   - a URI is in the list of forbidden ones exactly when its record says so;
//   - the counters of a host agree with its URIs, and a host is in exactly one state;
//   - a URI is claimed at most once, and what a host hands out next is its first unclaimed URI;
//   - what is remembered of a queue, so as not to read it again, is what stands in it.
//
// # Texts and times
//
// Times are kept to the microsecond and come back in UTC; Due to the millisecond, rounded up so that it is never early,
// and at most ten years ahead: anything later would be exile by another name. Texts longer than [MaxText] are not
// remembered but stored empty, as if they had not been sent. Texts may hold any bytes.
//
// # Damage
//
// The store itself would end the process on some kinds of damage and pass over others in silence. So [Open] first makes
// sure that no table is missing, that all can be opened, and that the newest, which alone a crash can have damaged, are
// whole; the time that takes does not grow with the store. What has lain there for longer [Frontier.Verify] compares with
// its checksums, in pieces that a daemon can afford, and [Frontier.Check] all at once. What no checksum shows (entries cut
// from the log of the last seconds before a crash), Check finds when it breaks an invariant.
package frontier
