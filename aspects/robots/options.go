package robots

import (
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Options say how long the answers of robots.txt are used, and whether they are obeyed.
type Options struct {
	Obey            Obey
	Reason          string        // why it may be ignored; not empty unless Obey is ObeyAll
	Until           time.Time     // when it is obeyed again; zero = never
	Wait            time.Duration // how long a fetched copy is used
	ForbiddenWait   time.Duration // until a forbidden URI is checked again, unless the rules change earlier
	UnreachableWait time.Duration // rest of the host after a server error or network failure on robots.txt
}

// Obey says which URIs robots.txt decides about.
type Obey string

// The values of Obey. A file writes ObeyAll as true.
const (
	ObeyAll  Obey = ""          // all
	ObeyHTML Obey = "html-only" // pages, but not what they embed
	ObeyNone Obey = "false"     // none
)

// Permits reports whether a URI may be visited although robots.txt forbids it.
func (r Options) Permits(hops uri.HopPath, now time.Time) bool {
	if r.Obey == ObeyAll || !r.Until.IsZero() && !now.Before(r.Until) {
		return false
	}
	if r.Obey == ObeyNone {
		return true
	}
	path := strings.TrimRight(string(hops), string(uri.Redirect))
	return strings.HasSuffix(path, string(uri.Embed))
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	const day = 24 * time.Hour
	return Options{Wait: day, ForbiddenWait: day, UnreachableWait: time.Hour}
}
