package cluster

import (
	"bytes"
	"maps"
	"slices"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
)

// rows returns the rows of a store by their keys, without those that say how it was opened.
func (p *fixture) rows(f *frontier.Frontier) map[string][]byte {
	p.Helper()
	p.must(f.Check())
	all := map[string][]byte{}
	_, err := newMirror(f, everything, 1).whole(func(rows []shared.Row) error {
		for _, r := range rows {
			if r.Key[0] != 'm' && r.Of == shared.OfPart {
				all[string(r.Key)] = r.Value
			}
		}
		return nil
	})
	p.must(err)
	return all
}

// same compares the rows of a store with the rows of another one.
func (p *fixture) same(what string, got, want map[string][]byte) {
	p.Helper()
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if !bytes.Equal(got[k], want[k]) {
			p.Errorf("%q is %q in the store %s, want %q", k, got[k], what, want[k])
		}
	}
	if len(got) != len(want) {
		p.Errorf("the store %s has %d rows, want %d", what, len(got), len(want))
	}
}

// isPayload reports whether a row is about a payload, and so in a table of its own.
func isPayload(k []byte) bool { of := tableOf(k); return of == shared.Payload || of == shared.Greatest }
