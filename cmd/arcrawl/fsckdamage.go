package main

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/frontier"
)

// maxDamage is the maximum number of damaged files that findDamage returns.
const maxDamage = 1000

// findDamage reads the whole store twice and returns its faults. First it compares the files with their checksums. If
// all are undamaged, it compares the entries with each other.
func findDamage(f *frontier.Frontier) (faults []error) {
	for done := false; !done && len(faults) < maxDamage; {
		var err error
		if done, err = f.Verify(math.MaxInt64); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return split(f.Check())
}

// split returns the errors that were joined into err.
func split(err error) []error {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &joined):
		return []error{err}
	}
	return slices.DeleteFunc(slices.Clone(joined.Unwrap()), func(part error) bool {
		return part == frontier.ErrCorrupt //nolint:errorlint // only the bare sentinel says nothing about a fault
	})
}

// describeDamage returns a fault without the advice to restore a backup, which other places print with it.
func describeDamage(fault error) string {
	return strings.ReplaceAll(fault.Error(), "; stop, and restore its folder from a backup", "")
}

// explainDamage returns what faults mean for the crawl, each meaning once.
func explainDamage(faults []error) []string {
	var all []string
	for _, m := range meanings {
		if slices.ContainsFunc(faults, func(fault error) bool { return meaning(fault.Error()) == m.text }) {
			all = append(all, m.text)
		}
	}
	return all
}

// meanings explains faults by words in their messages. The first match applies.
var meanings = []struct{ word, text string }{
	{"MANIFEST", "The list of the store's files is damaged: without it, nothing in the store can be trusted."},
	{".sst", "A file of the store is damaged: some URIs, hosts or payload digests in it are lost or wrong."},
	{"format", "The store has an unknown format, or belongs to another program."},
	{"has no place in the queue", "A URI is missing from the queue: it would never be visited."},
	{"place in the queue", "A URI is at the wrong place in the queue: it would be visited at a wrong time, or never."},
	{"watermark", "A URI is in a part of the queue that is no longer read: it would never be visited."},
	{"history of a URI", "The history of a URI cannot be read: its interval, digests and validators are lost."},
	{"the record of host", "The state of a host is lost: its politeness, its counters and the start of its queue."},
	{"robots.txt", "A copy of robots.txt is lost: it would be fetched again."},
	{"forbidden URIs", "The list of forbidden URIs is wrong: some would not be visited when robots.txt allows it."},
	{"host", "The counters or the queue of a host do not match its URIs: limits and the order of visits would be wrong."},
	{"", "The store is damaged."},
}

// meaning returns what a fault means.
func meaning(fault string) string {
	for _, m := range meanings {
		if strings.Contains(fault, m.word) {
			return m.text
		}
	}
	return ""
}
