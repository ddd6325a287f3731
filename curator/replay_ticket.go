package curator

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
)

// A ticket is valid until the end of the period after the one in which it was issued.
const ticketPeriod = 12 * time.Hour

// tickets issues and checks tickets. A ticket allows its holder to read archived captures, and nothing else. It
// contains when it expires, and a code that only this process can make. All tickets end with the process.
type tickets struct{ key []byte }

// newTickets returns tickets with a random key.
func newTickets() tickets {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return tickets{key}
}

// Issue returns the ticket for a name: of a token, or "" for a user of the unix socket. It is the same for several
// hours, so that a browser can reuse what it has loaded.
func (t tickets) Issue(name string, now time.Time) string {
	expires := now.Truncate(ticketPeriod).Add(2 * ticketPeriod).Unix()
	return strconv.FormatInt(expires, 16) + "-" + t.code(name, expires)
}

// Valid reports whether a ticket was issued for one of the names and has not expired.
func (t tickets) Valid(ticket string, names []string, now time.Time) bool {
	date, code, _ := strings.Cut(ticket, "-")
	expires, err := strconv.ParseInt(date, 16, 64)
	if err != nil || now.Unix() >= expires {
		return false
	}
	valid := false
	for _, name := range names {
		valid = hmac.Equal([]byte(code), []byte(t.code(name, expires))) || valid
	}
	return valid
}

func (t tickets) code(name string, expires int64) string {
	sum := hmac.New(sha256.New, t.key)
	sum.Write([]byte(strconv.FormatInt(expires, 16) + "\n" + name))
	return hex.EncodeToString(sum.Sum(nil)[:16])
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
