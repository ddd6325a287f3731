// This file remembers to which addresses hosts resolved, so that each look-up is archived once.

package crawler

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what is remembered and archived.
const (
	maxHosts = 50_000
	// minApart is the minimum time between two records of a host. Some names have other addresses at each look-up.
	minApart = time.Hour
)

// resolvedHosts remembers the addresses of hosts. It is safe for concurrent use. The zero value remembers nothing.
type resolvedHosts struct {
	mu    sync.Mutex
	known map[string]known
}

type known struct {
	addresses []netip.Addr
	at        time.Time // of the last record
}

// Changed reports whether a look-up of a host is to be archived: it is the first, or it found other addresses than the
// last one that was archived. addresses is sorted and must not change.
func (h *resolvedHosts) Changed(host string, addresses []netip.Addr, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, ok := h.known[host]
	if ok && (slices.Equal(before.addresses, addresses) || now.Sub(before.at) < minApart) {
		return false
	}
	if h.known == nil {
		h.known = map[string]known{}
	}
	for other := range h.known {
		if len(h.known) < maxHosts {
			break
		}
		delete(h.known, other) // any host: it is archived once more when it is looked up again
	}
	h.known[strings.Clone(host)] = known{addresses, now}
	return true
}

// Forget forgets a host whose look-up could not be archived, so that the next one is.
func (h *resolvedHosts) Forget(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.known, host)
}
