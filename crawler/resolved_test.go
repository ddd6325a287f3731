package crawler

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// TestALookupIsArchivedOnceAndWhenItChanges looks hosts up at several times.
func TestALookupIsArchivedOnceAndWhenItChanges(t *testing.T) {
	t.Parallel()
	var h resolvedHosts
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	one, two := []netip.Addr{netip.MustParseAddr("192.0.2.1")}, []netip.Addr{netip.MustParseAddr("192.0.2.2")}
	for i, c := range []struct {
		host  string
		found []netip.Addr
		after time.Duration
		want  bool
	}{
		{"a.example", one, 0, true},
		{"a.example", one, 48 * time.Hour, false},
		{"b.example", one, 48 * time.Hour, true},
		{"a.example", two, 49 * time.Hour, true},
		{"a.example", one, 49*time.Hour + time.Minute, false}, // other addresses at each look-up
		{"a.example", one, 51 * time.Hour, true},
	} {
		if got := h.Changed(c.host, c.found, now.Add(c.after)); got != c.want {
			t.Errorf("look-up %d: %t, want %t", i, got, c.want)
		}
	}
	h.Forget("a.example") // it could not be archived
	if !h.Changed("a.example", one, now.Add(51*time.Hour)) {
		t.Error("a look-up that could not be archived is not archived later")
	}
	for i := range maxHosts + 100 {
		h.Changed(fmt.Sprint(i), one, now)
	}
	if len(h.known) > maxHosts {
		t.Errorf("%d hosts are remembered, more than %d", len(h.known), maxHosts)
	}
}
