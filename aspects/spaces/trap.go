package spaces

import (
	"fmt"
	"regexp"
	"regexp/syntax"
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

	Twin Kind = 10 // a query parameter that shows a page once more
)

// words lists the kinds in logs, annotations and reports.
var words = [...]string{
	Repeats: "repeats", Growth: "growth", Calendar: "calendar", Facets: "facets", Session: "session",
	SoftNotFound: "soft404", Farm: "farm", Parameter: "parameter", Query: "query", Twin: "twin",
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

	match  *regexp.Regexp // nil for SoftNotFound
	begins string         // what the URIs begin with after http:// or https://
}

// maxPattern bounds the pattern of a trap, in bytes. Longer ones are not learned.
const maxPattern = 1024

// link is a URI that is compared with the traps of its host, and how it was found.
type link struct {
	uri, via     uri.URI
	hops         uri.HopPath
	text, target string // of the URI
	repeated     *bool  // see [link.repeats]; nil = not known yet
	work         int    // bytes that were compared with patterns so far; each takes up to 0.1 µs
}

func newLink(u, via uri.URI, hops uri.HopPath) *link {
	return &link{uri: u, via: via, hops: hops, text: u.String(), target: u.RequestTarget()}
}

// repeats reports whether the path of the URI has a sequence of folders three times in a row.
func (l *link) repeats() bool {
	if l.repeated == nil {
		_, again := repeatedTimes(l.uri.Path(), 3)
		l.repeated = &again
	}
	return *l.repeated
}

// fits compares a URI with the pattern of a trap. Most do not even begin like it.
func (l *link) fits(t *Trap, text string) bool {
	_, after, _ := strings.Cut(text, "://")
	if !strings.HasPrefix(after, t.begins) {
		return false
	}
	l.work += len(text)
	return t.match.MatchString(text)
}

// Rewrite returns the naming rule of a trap of ids in paths, as a configuration has it; empty for other traps.
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
func (t *Trap) matches(l *link, now time.Time) bool {
	if t.Released || t.match == nil || t.Kind == Session || t.Kind == Parameter || t.Kind == Repeats && !l.repeats() ||
		!l.fits(t, l.text) {
		return false
	}
	switch t.Kind {
	case Farm:
		return t.wasFoundInside(l)
	case Query:
		path, _, _ := strings.Cut(l.target, "?")
		above, _, has := strings.Cut(l.via.RequestTarget(), "?")
		return wasNamed(l.hops) && has && (path == above || l.fits(t, l.via.String()))
	}
	if t.Kind != Calendar {
		return true
	}
	d, ok := dated(l.target)
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
	t.match, t.begins = re, beginningOf(t.Pattern)
	return nil
}

// beginningOf returns the text after http:// or https:// that each URI of a pattern begins with.
func beginningOf(pattern string) string {
	rest, ok := strings.CutPrefix(pattern, "^https?://")
	re, err := syntax.Parse(rest, syntax.Perl)
	if !ok || err != nil {
		return ""
	}
	if re.Op == syntax.OpConcat {
		re = re.Sub[0]
	}
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return ""
	}
	return string(re.Rune)
}

// quote returns a pattern that matches only s. It has no single quotes, which would end a text of a configuration file.
func quote(s string) string { return strings.ReplaceAll(regexp.QuoteMeta(s), "'", "[\\x27]") }
