package noise

import (
	"errors"
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// Options say how two versions of a URI are compared. Each field is named after its key in [change].
type Options struct {
	Of           Of
	Mode         Mode
	Scrub        []string       // regular expressions whose matches are not compared
	ScrubCSS     []string       // CSS selectors of elements of HTML pages that are not compared
	MIME         *regexp.Regexp // types that are scrubbed; others are compared byte by byte
	MaxSize      int64          // in bytes; longer contents are compared byte by byte
	MaxTime      time.Duration  // that the rules may take on one page; after that it is compared byte by byte
	Tolerance    int            // maximum number of different bits in the sketches of two equal contents
	KeepScrubbed KeepScrubbed
	Auto         Auto
	RestlessWait time.Duration // shortest wait of a page that differs at each fetch; 0 = no second looks
	FrontWait    time.Duration // the same of seeds and front pages, if that is shorter

	Rules *digest.Rules // the fields above, compiled; they change nothing with [Strict]
	Seen  *digest.Rules // the rules that apply before what a reader sees is compared; nil = that decides nothing
}

// SecondLook returns the settings of second looks at a URI.
func (o *Options) SecondLook(r *frontier.Record) evaluators.SecondLook {
	s := evaluators.SecondLook{Every: o.RestlessWait, Off: o.RestlessWait == 0 || o.Of == OfRendered}
	if !s.Off && (r.Hops == "" || r.URI.RequestTarget() == "/") {
		s.Every = min(s.Every, o.FrontWait)
	}
	return s
}

// inForce identifies the rules under which a page may be restless. It is never zero.
func (o *Options) inForce() uint32 {
	if o.Seen != nil {
		return max(fingerprint(o.Seen), 1)
	}
	return max(fingerprint(o.Rules), 1)
}

// Of says what of a page decides about its next visit.
type Of string

// The values of Of.
const (
	OfSource   Of = "source"
	OfRendered Of = "rendered" // the text that a browser shows, once the page was rendered
)

// Auto says what a reader's view decides about pages that differ at each fetch in what no reader sees.
type Auto string

// The values of Auto.
const (
	AutoSchedule Auto = "schedule" // when the page is visited next
	AutoJudge    Auto = "judge"    // and whether the page changed
	AutoOff      Auto = "off"      // nothing
)

// Mode is a way to compare two versions.
type Mode string

// The modes.
const (
	Strict   Mode = "strict"   // every byte is compared
	Scrubbed Mode = "scrubbed" // except what the rules match
	TextOnly Mode = "text"     // only what a reader sees, except what the rules match
)

// KeepScrubbed says what is archived of an answer that differs from the archived one only in what is scrubbed. With the
// zero value nothing is.
type KeepScrubbed struct {
	Response bool          // archive the whole response
	Every    time.Duration // but at most once in this time; 0 = each time
}

// defaultTypes are the types whose content is scrubbed by default.
const defaultTypes = `^(text/.*|application/([a-z0-9.+-]*[+])?(xml|json)(;.*)?)$`

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	types, err := digest.TypePattern(defaultTypes)
	o := Options{
		Of: OfSource, Mode: Strict, MIME: types, MaxSize: 2 << 20, MaxTime: 10 * time.Second, Auto: AutoSchedule,
		RestlessWait: evaluators.DefaultRestlessEvery, FrontWait: 3 * time.Hour,
	}
	if err = errors.Join(err, o.compile()); err != nil { // a test reads the defaults
		panic("arcrawl/aspects/noise: " + err.Error())
	}
	return o
}

// compile makes the rules from the other fields, which were checked one by one when they were read.
func (o *Options) compile() error {
	spec := digest.Spec{
		Types: o.MIME, MaxSize: o.MaxSize, Sketch: o.Tolerance > 0 && o.Mode != Strict, Text: o.Mode == TextOnly,
	}
	if o.Mode != Strict {
		spec.Regexes, spec.Selectors = o.Scrub, o.ScrubCSS
	}
	rules, err := digest.Compile(spec)
	if err != nil {
		return err
	}
	o.Rules, o.Seen = rules, nil
	switch {
	case o.Auto == AutoOff || o.Mode == TextOnly || o.Of == OfRendered: // the text is compared anyway
	case o.Mode == Scrubbed || len(o.Scrub)+len(o.ScrubCSS) == 0:
		o.Seen = rules
	default:
		spec.Regexes, spec.Selectors = o.Scrub, o.ScrubCSS
		o.Seen, err = digest.Compile(spec)
	}
	return err
}
