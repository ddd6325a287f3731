package crawler

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// releasePage is how many URIs of a released trap are looked at in one step, so that a crawl that runs goes on meanwhile.
const releasePage = 500

// ReleaseTrap ends a trap for good, and makes those of its URIs due that are in the frontier and were not visited because
// of it. It gives how many these are. A crawl may run meanwhile. Done again, it finds what a broken off one has left.
func ReleaseTrap(f *frontier.Frontier, b *traps.Book, h uri.Host, pattern string, now time.Time) (due int64, err error) {
	t, err := b.Release(h, pattern)
	if err != nil || t.Kind == traps.SoftNotFound {
		return 0, err
	}
	match, err := regexp.Compile(t.Pattern)
	if err != nil {
		return 0, fmt.Errorf("release %q on %s: %w", pattern, h, err)
	}
	of := frontier.Selection{Host: string(h), Match: match}
	for from := frontier.Cursor(""); ; {
		list, next, err := f.List(now, of, from, releasePage)
		if err != nil {
			return due, fmt.Errorf("release %q on %s: %w", pattern, h, err)
		}
		var waiting []frontier.Candidate
		for _, e := range list {
			if e.Due.After(now) && (e.LastStatus == 0 || strings.HasPrefix(e.Why, refusedByTrap)) { // others were looked at, and wait for a reason of their own
				waiting = append(waiting, frontier.Candidate{URI: e.URI, Hops: e.Hops, Via: e.Via, Seed: e.Seed, Due: now, Sooner: true})
			}
		}
		added, err := f.Add(now, waiting...)
		due += int64(added.Sooner)
		if from = next; err != nil || next == "" {
			return due, err
		}
	}
}
