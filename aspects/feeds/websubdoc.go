// Package websub subscribes to the hubs of feeds (W3C WebSub), so that a hub reports at once when a feed has something
// new. Each genuine notification triggers a visit of the feed. The content of a notification is only used to check its
// signature and is never archived: only the answer of the site itself is.
//
// # A subscription
//
//	            Offer                Step                    Serve: hub.mode=subscribe
//	(unknown) ─────────▶ wanted ─────────────▶ asked ─────────────────────────────────▶ active
//	                       ▲   the hub refused   │                                        │
//	                       ├─────────────────────┘          the lease ends                │
//	                       └──────────────────────────────────────────────────────────────┘
//
// Nothing is stored on disk. After a restart, each visit of a feed offers its topic again, under a new callback.
// Requests to the old callbacks are answered 410, so that the hub forgets them.
//
// # Who may trigger
//
// Each subscription has a callback that cannot be guessed and a secret. A notification without the HMAC of that secret
// is accepted, as the standard requires, and ignored. One topic triggers at most one visit per minute.
//
// # Invariants
//
// There are at most [WebsubOptions].Max subscriptions, and at most 200 to the feeds of one registrable domain. A hub is asked
// at most once in two seconds. After a failure all its subscriptions wait, and after 16 in a row, which take five days,
// it is dropped for a week. A lease is never longer than requested, whatever a hub grants. Hubs must have https and its
// standard port, unless [WebsubOptions].AnyHub is set.
//
// At most 16 MiB of a notification are read, and none are kept. The package starts no goroutine and does not ask the
// clock: its owner calls [Subscriber.Step] at the time that Step returned, and [Subscriber.Serve] for each request.

package feeds
