package crawler

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// smallBody is the maximum size of a body that needs no reservation. Such a body is kept in memory.
	smallBody = 256 << 10
	// copies is how often a body is on disk while it is archived: as it was received, compressed, and in the WARC file.
	copies = 3
	// smallShare is the part of a day's quota that is kept for small bodies: a tenth.
	smallShare = 10
	// freeShare is the part of the free disk space that large bodies of a domain may take in a day: a quarter.
	freeShare = 4
	// maxDomains bounds the domains whose use is known. Beyond it, those that used least are dropped.
	maxDomains = 50_000
	useBytes   = 120 // memory of a domain, about
)

// errBodyRefused means that a body is not received, for lack of disk space or because its domain has used up its day.
var errBodyRefused = errors.New("body refused")

// spaceLedger knows what bodies in progress have reserved, and what each domain has used today. It is in memory only:
// after a restart, the day of each domain begins again. It is safe for concurrent use.
//
// It decides whether there is disk space for a body before it is received.
//
// Two things are limited. The disk: bodies in progress reserve what they need, so that together they cannot fill it.
// The day: the hosts of one registrable domain may add only a part of the disk to the archive in one day. A refusal is
// about one body. Small bodies need no reservation, so that the pages of a site with large files are still archived.
type spaceLedger struct {
	freeSpace func() (int64, error) // free bytes on disk
	minFree   func() int64          // bytes that must stay free
	log       zerolog.Logger

	mu       sync.Mutex // guards the fields below
	reserved int64      // by all bodies in progress
	day      int64      // days since 1970, UTC
	domains  map[string]*spaceUse
}

// spaceUse holds the bytes that a domain uses.
type spaceUse struct {
	written  int64 // today
	reserved int64 // by bodies in progress
	told     bool  // a refusal was logged today
}

// spaceVisit is the use of one visit. It must be ended. It may be used by one goroutine at a time.
type spaceVisit struct {
	ledger   *spaceLedger
	uri      uri.URI
	known    string // the domain of uri; empty until it is needed
	quota    int64
	now      time.Time
	reserved int64
	written  int64
}

// Begin begins a visit. quota is the number of bytes that the domain of the URI may add to the archive in a day; zero
// means no limit.
func (l *spaceLedger) Begin(now time.Time, u uri.URI, quota int64) *spaceVisit {
	return &spaceVisit{ledger: l, uri: u, quota: quota, now: now}
}

// domain returns the domain of the visit. To find it takes half a microsecond.
func (v *spaceVisit) domain() string {
	if v.known == "" {
		v.known = v.uri.Domain()
	}
	return v.known
}

// Reserve asks for n bytes more. An error wraps [errBodyRefused] and says what is missing, unless the free space could
// not be read.
func (v *spaceVisit) Reserve(n int64) error {
	l := v.ledger
	large := v.reserved+n > smallBody
	free := int64(0)
	if large {
		var err error
		if free, err = l.freeSpace(); err != nil {
			return fmt.Errorf("read the free disk space: %w", err)
		}
		free -= l.minFree()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(v.domain(), v.now)
	err := v.check(u, n, free, large)
	if err != nil {
		l.logFirst(u, v, err)
		return err
	}
	u.reserved += n
	l.reserved += n
	v.reserved += n
	return nil
}

// check returns an error if n bytes more are refused. free is the free disk space above the minimum.
func (v *spaceVisit) check(u *spaceUse, n, free int64, large bool) error {
	used, quota := u.written+u.reserved, v.quota
	if quota > 0 && large {
		quota -= quota / smallShare
	}
	switch left := free - copies*v.ledger.reserved; {
	case quota > 0 && used+n > quota:
		return fmt.Errorf("%w: %s has used %s of fetch.max_per_day (%s) today",
			errBodyRefused, v.domain(), human.Bytes(used), human.Bytes(v.quota))
	case large && copies*n > left:
		return fmt.Errorf("%w: it needs %s of disk space, and %s are free above storage.min_free",
			errBodyRefused, human.Bytes(copies*n), human.Bytes(max(left, 0)))
	case large && used+n > (free+u.written)/freeShare:
		return fmt.Errorf("%w: %s would use more than a quarter of the free disk space in a day", errBodyRefused, v.domain())
	}
	return nil
}

// logFirst logs the first refusal of a domain and day.
func (l *spaceLedger) logFirst(u *spaceUse, v *spaceVisit, err error) {
	if u.told {
		return
	}
	u.told = true
	l.log.Warn().Err(err).Str("uri", v.uri.String()).
		Msg("not receiving a body: it is tried again later; further ones of the domain are in crawl.log only")
}

// Wrote counts the bytes that the visit added to the archive, when it ends.
func (v *spaceVisit) Wrote(n int64) {
	if v != nil {
		v.written += n
	}
}

// End ends the visit.
func (v *spaceVisit) End() {
	if v.reserved == 0 && v.written == 0 {
		return
	}
	l := v.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(v.domain(), v.now)
	u.written += v.written
	u.reserved -= v.reserved
	l.reserved -= v.reserved
	v.reserved, v.written = 0, 0
}

// of returns the use of a domain. At the first call of a day, the uses of the day before are dropped, except what is
// reserved.
func (l *spaceLedger) of(domain string, now time.Time) *spaceUse {
	if day := now.Unix() / (24 * 60 * 60); day > l.day {
		l.day = day
		l.drop(func(*spaceUse) bool { return true })
	}
	if u := l.domains[domain]; u != nil {
		return u
	}
	for least := int64(smallBody); len(l.domains) >= maxDomains; least *= 4 {
		l.drop(func(u *spaceUse) bool { return u.written <= least })
	}
	u := &spaceUse{}
	if l.domains == nil {
		l.domains = map[string]*spaceUse{}
	}
	l.domains[strings.Clone(domain)] = u // domain may be a part of a long URI
	return u
}

// drop forgets what domains have written, if old reports true. Reservations are kept.
func (l *spaceLedger) drop(old func(*spaceUse) bool) {
	for name, u := range l.domains {
		switch {
		case !old(u):
		case u.reserved == 0:
			delete(l.domains, name)
		default:
			u.written, u.told = 0, false
		}
	}
}

// Bytes returns about how much memory the ledger takes.
func (l *spaceLedger) Bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.domains)) * useBytes
}

// Reserved returns the number of bytes that bodies in progress have reserved.
func (l *spaceLedger) Reserved() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserved
}
