// This file ends traps and makes their URIs due.

package spaces

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// releasePage is the number of URIs of a released trap that are read in one step, so that a running crawl is not
// delayed.
const releasePage = 500

// RefusedByTrap begins the reason why a URI of a trap is not visited.
const RefusedByTrap = "trap:"

// Suspect and Budget end the reason for URIs that may be part of a trap, and that wait for the budget of their path.
const (
	Suspect = "suspect"
	Budget  = "budget"
)

// Kinds returns why URIs are not visited, as [KindOf] groups it.
func Kinds() []string { return []string{"trap", Suspect, Budget} }

// KindOf returns why a URI was not visited. It reports false if no trap is the reason.
func KindOf(why string) (string, bool) {
	switch kind, ok := strings.CutPrefix(why, RefusedByTrap); {
	case !ok:
		return "", false
	case kind == Suspect, kind == Budget:
		return kind, true
	}
	return "trap", true
}

// refusedByName begins the reason why a URI is not visited that has the same name as another one.
const refusedByName = "sameAs:"

// isRefused reports whether a URI was not visited because of a trap, for this reason.
func isRefused(why string) bool {
	return strings.HasPrefix(why, RefusedByTrap) || strings.HasPrefix(why, refusedByName)
}

// Release ends a trap permanently, or the budget of a path and its parameters, both as arcrawl traps names them. It
// makes the known URIs due that were not visited because of it, and returns their number. A crawl may run meanwhile. A
// second call completes one that was interrupted.
func Release(f *frontier.Frontier, store *Store, h uri.Host, pattern string, now time.Time) (due int64, err error) {
	t, err := store.Release(h, pattern)
	switch {
	case err != nil || t != nil && t.Kind == SoftNotFound:
		return 0, err
	case t == nil:
		pattern = spacePatternOfHost(h, pattern)
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return 0, fmt.Errorf("release %q on %s: %w", pattern, h, err)
	}
	selected := frontier.Selection{Host: string(h), Match: match}
	for from := frontier.Cursor(""); ; {
		list, next, err := f.List(now, selected, from, releasePage)
		if err != nil {
			return due, fmt.Errorf("release %q on %s: %w", pattern, h, err)
		}
		var waiting []frontier.Candidate
		for _, e := range list {
			// The others were visited and wait for a reason of their own.
			if e.Due.After(now) && (e.LastStatus == 0 || isRefused(e.Why)) {
				waiting = append(waiting, frontier.Candidate{
					URI: e.URI, Hops: e.Hops, Via: e.Via, Seed: e.Seed, Due: now, Sooner: true,
				})
			}
		}
		added, err := f.Add(now, waiting...)
		due += int64(added.Sooner)
		if from = next; err != nil || next == "" {
			return due, err
		}
	}
}
