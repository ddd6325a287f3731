package curator

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
)

// A ticket is valid until the end of the period after the one in which it was issued.
const ticketPeriod = 12 * time.Hour

// maxViews is the maximum number of views whose tickets are valid: the last used ones. Each needs up to a megabyte.
const maxViews = 300

// tickets issues and checks tickets. A ticket allows its holder to see one archived page, and nothing else. It contains
// when it expires, and a code that only this process can make. All tickets end with the process. Its methods are safe
// for concurrent use.
type tickets struct {
	key []byte

	mu    sync.Mutex       // guards views
	views map[string]*view // by ticket
}

// newTickets returns tickets with a random key.
func newTickets() *tickets {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &tickets{key: key, views: map[string]*view{}}
}

// Issue returns the ticket for a name, of a token or "" for a user of the unix socket, and a role. It opens the capture
// of a page at a timestamp. It is the same for several hours, so that a browser can reuse what it has loaded. Its last
// character says to the worker whether the scripts of the page run.
func (t *tickets) Issue(name string, role access.Role, page, stamp string, scripts bool, now time.Time) string {
	expires := now.Truncate(ticketPeriod).Add(2 * ticketPeriod)
	sum := hmac.New(sha256.New, t.key)
	run := "0"
	if scripts {
		run = "1"
	}
	fmt.Fprintf(sum, "%d\n%q\n%d\n%s\n%s\n%s", expires.Unix(), name, role, run, stamp, page)
	ticket := strconv.FormatInt(expires.Unix(), 16) + "-" + hex.EncodeToString(sum.Sum(nil)[:16]) + run
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.views[ticket]
	if v == nil {
		t.forget(now)
		v = newView(name, role, page, stamp, expires)
		t.views[ticket] = v
	}
	v.used = now
	return ticket
}

// forget makes room for one more view. The lock is held.
func (t *tickets) forget(now time.Time) {
	oldest := ""
	for ticket, v := range t.views {
		if !now.Before(v.expires) {
			delete(t.views, ticket)
		} else if oldest == "" || v.used.Before(t.views[oldest].used) {
			oldest = ticket
		}
	}
	if len(t.views) >= maxViews {
		delete(t.views, oldest)
	}
}

// Find returns the view of a ticket that was issued for one of the names and has not expired.
func (t *tickets) Find(ticket string, names []string, now time.Time) (*view, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.views[ticket]
	if v == nil || !now.Before(v.expires) || !slices.Contains(names, v.holder) {
		return nil, false
	}
	v.used = now
	return v, true
}

// WorkerKey returns the key with which the player's worker proves that it sends a request.
func (t *tickets) WorkerKey() string {
	sum := hmac.New(sha256.New, t.key)
	sum.Write([]byte("worker"))
	return hex.EncodeToString(sum.Sum(nil))
}

// proxyHolder is the name in tickets of users whom a proxy names. No token and no user is called so.
const proxyHolder = "users of the proxy"

// holder returns the name for which a caller gets tickets.
func holder(c access.Caller) string {
	if c.Way == access.ByProxy {
		return proxyHolder
	}
	return c.Name
}

// holders returns the names for which tickets are valid: of tokens and users, "" for users of the socket, and the one
// of users whom a proxy names.
func holders(o access.Options) []string {
	names := []string{""}
	for _, t := range o.Tokens() {
		names = append(names, t.Name)
	}
	for _, u := range o.Users() {
		names = append(names, u.Name)
	}
	if o.Proxy.Header != "" {
		names = append(names, proxyHolder)
	}
	return names
}
