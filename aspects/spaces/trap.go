package spaces

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// Kind is the kind of a trap.
type Kind uint8

// The kinds. Their numbers are stored and never change.
const (
	Repeats      Kind = 1 // a sequence of folders again and again
	Growth       Kind = 2 // endless folders in folders
	Calendar     Kind = 3 // pages of dates
	Facets       Kind = 4 // combinations of query parameters
	Session      Kind = 5 // the same page under session ids
	SoftNotFound Kind = 6 // the same answer for every URI
	Farm         Kind = 7 // pages that invent each other
	Parameter    Kind = 8 // a query parameter that says nothing
	Query        Kind = 9 // values of query parameters without end
)

// words lists the kinds in logs, annotations and reports.
var words = [...]string{
	Repeats: "repeats", Growth: "growth", Calendar: "calendar", Facets: "facets", Session: "session",
	SoftNotFound: "soft404", Farm: "farm", Parameter: "parameter", Query: "query",
}

// String returns the word for a kind.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(words) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return words[k]
}

// MarshalText returns the word for a kind, as JSON has it; empty for no kind. Rows have the number.
func (k Kind) MarshalText() ([]byte, error) {
	if k == 0 {
		return nil, nil
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads the word for a kind.
func (k *Kind) UnmarshalText(word []byte) error {
	i := slices.Index(words[:], string(word))
	if i < 0 {
		return fmt.Errorf("unknown kind of trap %q", word)
	}
	*k = Kind(i)
	return nil
}

// detectors lists what looks for traps on each page that is HTML. A detector returns the family that it has changed,
// and the trap if it is certain now.
var detectors = []func(*state, Page) (*family, *Trap){
	(*state).calendar, (*state).facets, (*state).growth, (*state).session,
}

// The numbers of visits that make a trap certain.
const (
	CalendarRow   = 16
	FacetsRow     = 16
	SessionProofs = 3
	SoftPaths     = 8
)

// Trap is a part of a host that is kept out of the crawl. It is part of a row: keys are only ever added. In JSON it is
// part of an answer of the API. It is released by the curator, or because it was refuted.
type Trap struct {
	Kind Kind `cbor:"1,keyasint" json:"kind"`

	Pattern string `cbor:"2,keyasint" json:"pattern"` // regular expression for URIs; for soft404 the digest of the page

	Why      string    `cbor:"3,keyasint,omitempty" json:"why"`      // evidence
	Examples []string  `cbor:"4,keyasint,omitempty" json:"-"`        // some of its URIs
	Found    time.Time `cbor:"5,keyasint" json:"found"`              // when it became certain
	Visited  int       `cbor:"6,keyasint,omitempty" json:"visited"`  // pages that were visited before
	Kept     int64     `cbor:"7,keyasint,omitempty" json:"kept_out"` // URIs that were kept out so far
	Released bool      `cbor:"8,keyasint,omitempty" json:"released"`

	// Suspect says that the trap is not certain, so that a URI has to wait until it is either certain or refuted. Only
	// [Store.Judge] returns such traps.
	Suspect bool `cbor:"-" json:"-"`
	// From and To are the first and the last day of a calendar that are outside of the trap, in days since 1970.
	From int `cbor:"9,keyasint,omitempty" json:"-"`
	To   int `cbor:"10,keyasint,omitempty" json:"-"`
	// Parameter is the name of a Parameter trap; one of the path begins with a semicolon. Space is the path and the names
	// of parameters of a Query trap.
	Parameter string `cbor:"11,keyasint,omitempty" json:"-"`
	Space     string `cbor:"12,keyasint,omitempty" json:"-"`

	match *regexp.Regexp // nil for SoftNotFound
}

// Rewrite returns the naming rule of a trap of ids in paths, as [uri.ParseRewrite] reads it; empty for other traps.
func (t Trap) Rewrite() string {
	switch {
	case t.Kind == Session:
		return t.Pattern + " -> ${1}-"
	case t.Kind == Parameter && strings.HasPrefix(t.Parameter, ";"):
		return t.Pattern + " -> ${1}"
	}
	return ""
}

// Rule returns the lines of a host file that keep the trap out permanently; empty if there is no such rule.
func (t Trap) Rule() string {
	switch t.Kind {
	case SoftNotFound:
		return ""
	case Session:
		return "[names]\nrewrite = ['" + t.Rewrite() + "']"
	case Parameter:
		if t.Rewrite() != "" {
			return "[names]\nrewrite = ['" + t.Rewrite() + "']"
		}
		return "[names]\ndrop = ['" + strings.ReplaceAll(t.Parameter, "'", "*") + "']"
	}
	return "[scope]\nrules = ['reject " + t.Pattern + "']"
}

// matches reports whether a URI is part of the trap.
func (t *Trap) matches(text, target string, via uri.URI, hops uri.HopPath, now time.Time) bool {
	if t.Released || t.match == nil || t.Kind == Session || t.Kind == Parameter || !t.match.MatchString(text) {
		return false
	}
	switch t.Kind {
	case Farm:
		return t.wasFoundInside(via, hops)
	case Query:
		path, _, _ := strings.Cut(target, "?")
		above, _, has := strings.Cut(via.RequestTarget(), "?")
		return wasNamed(hops) && has && (path == above || t.match.MatchString(via.String()))
	}
	if t.Kind != Calendar {
		return true
	}
	d, ok := dated(target)
	if !ok {
		return false
	}
	y, m, _ := now.Date()
	first, last := dayOf(y, int(m), 1), dayOf(y, int(m)+1, 0)
	return (d.day < t.From || d.day > t.To) && (d.day < first || d.day > last)
}

// compile prepares the trap for [Trap.matches].
func (t *Trap) compile() error {
	if t.Kind == SoftNotFound {
		return nil
	}
	re, err := regexp.Compile(t.Pattern)
	if err != nil {
		return fmt.Errorf("%w: pattern of a trap: %w", hosts.ErrCorrupt, err)
	}
	t.match = re
	return nil
}

// quote returns a pattern that matches only s. It has no single quotes, which would end a text of a configuration file.
func quote(s string) string { return strings.ReplaceAll(regexp.QuoteMeta(s), "'", "[\\x27]") }
