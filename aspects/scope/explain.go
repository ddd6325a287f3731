package scope

import (
	"errors"
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// Opinion is the answer of one rule about a URI.
type Opinion uint8

// The opinions.
const (
	Silent Opinion = iota // the rule has no opinion; the next one is asked
	Accepts
	Rejects
)

// String returns the opinion as a word for people.
func (o Opinion) String() string { return [...]string{"–", "accepts", "rejects"}[o] }

// Reason is the answer of one rule, with an explanation for people.
type Reason struct {
	Opinion Opinion
	Rule    string // the key of the rule, such as "scope.max_hops"
	Why     string
	Where   string // file and line of the setting that decides, or "default"; empty if no setting decides

	exception *Exception
}

// Explain returns the answers of all rules up to the one that decides. origin returns where a key of the seed's
// settings is set: file and line, or "default".
func (s *Scope) Explain(d Discovery, origin func(key string) string) []Reason {
	var reasons []Reason
	for _, rule := range order {
		r := rule(s, d)
		s.explain(&r, d)
		if r.Opinion != Silent && r.Where == "" && strings.HasPrefix(r.Rule, "scope.") {
			r.Where = s.originOf(r.Rule, origin)
		}
		if reasons = append(reasons, r); r.Opinion != Silent {
			return reasons
		}
	}
	return append(reasons, Reason{
		Opinion: Rejects, Rule: "scope", Where: s.originOf("scope.by", origin),
		Why: fmt.Sprintf("no rule accepts it; scope.by is %q", s.rules.By),
	})
}

// originOf returns where a key is set. For scope.by = "prefix", that is the line of the prefixes if they are set.
func (s *Scope) originOf(key string, origin func(key string) string) string {
	if key == "scope.by" && s.rules.By == ByPrefix {
		if at := origin("scope.prefixes"); at != "default" {
			return at
		}
	}
	return origin(key)
}

// explain fills in the words for the answer of a rule.
func (s *Scope) explain(r *Reason, d Discovery) {
	switch r.Rule {
	case "seeds.uris":
		r.Why = s.explainSeed(d)
	case "port":
		r.Why = fmt.Sprintf("port %s belongs to another protocol, so that browsers refuse it; list a seed on it to visit it",
			d.URI.Port())
	case "scope.rules":
		r.Why = fmt.Sprintf("none of %d rules matches", len(s.rules.Exceptions))
		if e := r.exception; e != nil {
			r.Why, r.Where = e.String(), fmt.Sprintf("%s:%d", e.File, e.Line)
		}
	case "scope.embeds_anywhere":
		r.Why = "it is not embedded"
		if d.Hops.Trailing(uri.Embed) > 0 {
			r.Why = fmt.Sprintf("it is embedded, and scope.embeds_anywhere is %t", s.rules.EmbedsAnywhere)
		}
	case "scope.by":
		r.Why = s.explainExtent(d)
	case "scope.seed_redirects":
		r.Why = s.explainRedirects(d)
	default:
		r.Why = s.explainHops(*r, d.Hops)
	}
}

func (s *Scope) explainSeed(d Discovery) string {
	switch {
	case !s.listed:
		return fmt.Sprintf("no seed is listed on %s, where it was found from", s.seed.Host())
	case d.Hops == "":
		return "it is a seed"
	case d.Hops.Count(uri.Prereq) > 0:
		return "it is a robots.txt"
	}
	return fmt.Sprintf("found from the seed %s by the path %s", s.seed, d.Hops)
}

func (s *Scope) explainHops(r Reason, p uri.HopPath) string {
	if l, exceeded := s.exceeded(p); exceeded && r.Opinion == Rejects {
		return fmt.Sprintf("%d %s, at most %d are allowed", l.count(p), l.noun, l.maximum(&s.rules))
	}
	if r.Opinion == Accepts {
		return "the seed redirects to it"
	}
	if r.Rule == "scope.max_redirects" {
		return "the seed does not redirect to it"
	}
	return fmt.Sprintf("%d hops from the seed: within all limits on hops", countedHops(p))
}

func (s *Scope) explainExtent(d Discovery) string {
	switch {
	case s.rules.By == ByPrefix:
		return fmt.Sprintf("by prefix: %s", strings.Join(s.rules.Prefixes, ", "))
	case s.isSeed(d.URI.Host()):
		return fmt.Sprintf("%s is a host of the seeds", d.URI.Host())
	case s.rules.By == ByDomain:
		return fmt.Sprintf("its domain is %s, the domain of the seed is %s", d.URI.Domain(), s.seed.Domain())
	}
	return fmt.Sprintf("%s is not a host of the seeds", d.URI.Host())
}

func (s *Scope) explainRedirects(d Discovery) string {
	targets := s.redirectTargets(d)
	if len(targets) == 0 {
		return "the seed is not known to redirect"
	}
	last := targets[len(targets)-1]
	return fmt.Sprintf("the seed redirects to %s; scope.seed_redirects is %q", last, s.rules.SeedRedirects)
}

// OtherScheme reports whether a text is a URI that is never crawled because of its scheme, and returns the reason. It
// reports false for http and https, and for a text that is not a URI: "localhost:8080" is a host with a port.
func OtherScheme(text string) (Reason, bool) {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(text), ":")
	isHost := strings.Contains(scheme, ".") || rest == "" || rest[0] >= '0' && rest[0] <= '9'
	if _, err := uri.Parse(text); isHost || !errors.Is(err, uri.ErrScheme) {
		return Reason{}, false
	}
	why := strings.ToLower(scheme) + " is neither http nor https; only these are crawled"
	return Reason{Opinion: Rejects, Rule: "scheme", Why: why}, true
}
