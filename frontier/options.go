package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Options configure a frontier. Dir and Now are required; zero values of the others mean sensible defaults.
type Options struct {
	Dir string // folder of the store; Open creates it if it does not exist

	// Now is the time of opening.
	Now time.Time

	// RestAfterCrash is how long every host rests after an unclean stop, unless its politeness delay was longer; zero
	// means 30 seconds, the maximum is 24 hours.
	RestAfterCrash time.Duration

	// LongestDelay returns the longest politeness delay after an ordinary visit of a host; nil means that it is never
	// above RestAfterCrash. After an unclean stop a host rests at least as long, since its very first visit may have been
	// in progress. It is called by [Open], and like the functions below it must not call the frontier.
	LongestDelay func(uri.Host) time.Duration

	// Order chooses among the due URIs of a host that has more of them than it can serve; see the package comment.
	Order Order

	MaxURIsPerHost int64 // zero means [DefaultMaxURIs]; URIs on demand are never refused

	// MaxDoubtful bounds the claims in progress of hosts that do not answer: new ones, unreachable ones, and
	// those whose last visits took [SlowVisit] or longer. So hosts that answer always find a free worker. Zero means no
	// bound.
	MaxDoubtful int

	// NewHosts bounds how many hosts become known; zero means no bounds.
	NewHosts NewHosts

	// Quotas bound the claims in progress of hosts that belong to one stranger; zero means no bounds.
	Quotas Quotas

	// The functions below are called with locks held. They must be quick, and must not call the frontier.

	// Valence returns how many visits a host may have in progress at a time, from 1 to 256; nil means one for all hosts.
	// It is called when a host becomes known, after each of its visits, and by [Frontier.RefreshHosts].
	Valence func(uri.Host) int

	// Group returns the name of the group that a host belongs to, or the empty string for none; nil makes no groups.
	// Hosts of one group share politeness because one server is behind them: together they have as many visits in
	// progress, and as long rests after them, as one of them would have. A Retry-After of one applies to all. Group is
	// called when a host becomes known, and by [Frontier.RefreshHosts].
	Group func(uri.Host) string

	// Limits returns how many URIs a host may have; nil means MaxURIsPerHost for all. It is called for each new URI.
	Limits func(uri.Host) Limits

	// Keep reports whether a host is never evicted; see [Frontier.MakeRoom]. Nil keeps only hosts that have a seed or an
	// archived URI.
	Keep func(uri.Host) bool

	// Names returns the rules for which URIs of a host are the same; nil means that all are different. It is called for
	// every candidate.
	Names func(uri.Host) *uri.Naming

	// Elsewhere says which hosts belong to other stores; nil means that all hosts belong to this one.
	Elsewhere Elsewhere

	// Inspect opens the store only to look at it. Nothing is marked; methods that change the store fail, or
	// their changes are lost.
	Inspect bool

	// BulkLoad prepares the store for a command that writes very many rows while nothing is crawled. The store then merges
	// tables in smaller steps and fewer levels, which takes less memory. See [BulkLoadGarbage] and [Frontier.PageOut].
	BulkLoad bool

	// Compactors is the number of goroutines that merge the tables of the store: zero means 2, -1 means none. None is for
	// tests under a virtual clock; a busy store would stall in the end.
	Compactors int

	// AwaitSpace makes the store reserve the disk space of its files before it writes them, so that a full disk or a quota
	// makes calls return [ErrFull] and does not end the process. It is called again and again while a merge of tables
	// waits for space, and must return after a second or so. Nil reserves nothing. See reserve.
	AwaitSpace func()

	Logger badger.Logger // for messages of the store; nil discards them

	reserve *reserve // nil without AwaitSpace
}

// Limits bound the URIs of a host. URIs that are found beyond them are refused; URIs on demand never are.
type Limits struct {
	URIs         int64 // of the host; zero means [Options].MaxURIsPerHost
	PerDirectory int64 // of one folder; zero means no limit
}

// Recommended bounds of memory for a command that opens the store with [Options].BulkLoad. Most of its memory has no
// pointers, so that frequent garbage collection costs little. Both together keep an import of ten million digests
// within 512 MiB.
const (
	BulkLoadGarbage = 20        // percent for [runtime/debug.SetGCPercent]
	BulkLoadMapped  = 100 << 20 // bytes of mapped files, for [Frontier.PageOut]
)

const (
	// DefaultMaxURIs is the maximum number of URIs of a host if [Options].MaxURIsPerHost is zero.
	DefaultMaxURIs = 1_000_000

	defaultRestAfterCrash = 30 * time.Second
)

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Dir == "":
		return o, errors.New("open frontier: no folder is given")
	case o.Now.IsZero():
		return o, errors.New("open frontier: the time of opening is not given")
	case o.Compactors < -1 || o.Compactors == 1:
		return o, fmt.Errorf("open frontier: %d compactors; want -1, 0 or at least 2", o.Compactors)
	case o.Order > ByDue:
		return o, fmt.Errorf("open frontier: unknown order %s", o.Order)
	case o.MaxURIsPerHost < 0 || o.RestAfterCrash < 0 || o.MaxDoubtful < 0:
		return o, errors.New("open frontier: a limit is negative")
	}
	if o.MaxURIsPerHost == 0 {
		o.MaxURIsPerHost = DefaultMaxURIs
	}
	if o.RestAfterCrash == 0 {
		o.RestAfterCrash = defaultRestAfterCrash
	}
	o.RestAfterCrash = min(o.RestAfterCrash, maxRest)
	if o.LongestDelay == nil {
		o.LongestDelay = func(uri.Host) time.Duration { return 0 }
	}
	if o.Valence == nil {
		o.Valence = func(uri.Host) int { return 1 }
	}
	if o.Limits == nil {
		o.Limits = func(uri.Host) Limits { return Limits{} }
	}
	if o.Keep == nil {
		o.Keep = func(uri.Host) bool { return false }
	}
	if o.Names == nil {
		o.Names = func(uri.Host) *uri.Naming { return nil }
	}
	return o, nil
}
