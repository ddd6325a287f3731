package shared

import (
	"fmt"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// nodesFindEachOther announces where nodes answer, until they are fenced, start again, or are removed.
func nodesFindEachOther(t *testing.T, db *postgres.Server) {
	a, b := open(t, db, "a"), open(t, db, "b")
	doors := func(s *Store) string {
		t.Helper()
		st, err := s.Beat(t.Context())
		must(t, err)
		var list []string
		for _, n := range st.Nodes {
			list = append(list, fmt.Sprintf("%s %s %s", n.Name, n.Door.Address, n.Door.Print))
		}
		return strings.Join(list, ", ")
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("before", doors(a), "a  , b  ")
	b.Announce(Door{"10.0.0.6:1", []byte("key")})
	want("before the beat of b", doors(a), "a  , b  ")
	want("with the beat of b", doors(b), "a  , b 10.0.0.6:1 key")
	want("after the beat of b", doors(a), "a  , b 10.0.0.6:1 key")
	want("at the next beat", doors(b), "a  , b 10.0.0.6:1 key")
	b2 := open(t, db, "b")
	want("after a restart of b", doors(a), "a  , b  ")
	b2.Announce(Door{"10.0.0.6:2", []byte("other")})
	want("when it answers again", doors(b2), "a  , b 10.0.0.6:2 other")
	b2.Announce(Door{strings.Repeat("x", maxDoor+1), []byte("k")})
	want("with an address without bounds", doors(b2), "a  , b 10.0.0.6:2 other")
	fence(t, a, "b")
	want("after b was fenced", doors(a), "a  , b  ")
}

// nodesAreUnfit lets a node say that it can crawl nothing, until it starts again.
func nodesAreUnfit(t *testing.T, db *postgres.Server) {
	a, b := open(t, db, "a"), open(t, db, "b")
	want := func(what string, s *Store, want bool) {
		t.Helper()
		st, err := s.Beat(t.Context())
		if must(t, err); st.Nodes[0].Unfit || st.Nodes[1].Unfit != want {
			t.Errorf("%s: the nodes are %+v", what, st.Nodes)
		}
	}
	b.Unfit(strings.Repeat("x", maxWhy-1) + "é")
	want("before the beat of b", a, false)
	want("with the beat of b", b, true)
	want("after the beat of b", a, true)
	r, err := Look(t.Context(), db.URL(db.Address()), func() error { return nil })
	if err != nil || !strings.HasPrefix(r.Nodes[1].Unfit, "xx") || r.Nodes[0].Unfit != "" {
		t.Errorf("the report has %+v, %v", r.Nodes, err)
	}
	b.Unfit("")
	want("when b can crawl", b, false)
	b.Unfit("disk is full")
	want("when it cannot again", b, true)
	open(t, db, "b")
	want("after a restart of b", a, false)
}
