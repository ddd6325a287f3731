// Package websub lets feeds be pushed: it subscribes to the topics that feeds offer at their hubs (W3C WebSub), and turns each
// genuine notification into a trigger for a visit of the feed. What a notification carries is never looked at otherwise, and
// never archived: only what the site itself answers is.
//
// # A subscription
//
//	            Offer                Step                    Serve: hub.mode=subscribe
//	(unknown) ─────────▶ wanted ─────────────▶ asked ─────────────────────────────────▶ active
//	                       ▲   the hub refused   │                                        │
//	                       ├─────────────────────┘          the lease comes to its end    │
//	                       └──────────────────────────────────────────────────────────────┘
//
// Nothing is kept on disk. After a restart the feeds offer their topics again as they are visited, under new callbacks; those of
// before are answered 410, which tells the hub to forget them.
//
// # Who may trigger
//
// Each subscription has a callback that nobody can guess and a secret. A notification without the HMAC of that secret is
// taken, as the standard wants it, and ignored. One topic triggers at most once in [Options].MinInterval.
//
// # Invariants
//
// There are at most [Options].Max subscriptions. A notification's body is read to at most 16 MiB and not kept. The package
// starts no goroutine and asks no clock: [Subscriber.Step] is to be called when it says, and [Subscriber.Serve] for each request.
package websub
