package crawler

import (
	"errors"
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// Opinion is what one rule says about a URI.
type Opinion uint8

// The opinions.
const (
	Silent Opinion = iota // it has none: the next rule is asked
	Accepts
	Rejects
)

// String is a word for people.
func (o Opinion) String() string { return [...]string{"–", "accepts", "rejects"}[o] }

// Reason is what one rule said, and why.
type Reason struct {
	Opinion Opinion
	Rule    string // the key that it goes by, "scope.max_hops"
	Why     string
	Where   string // file and line of the setting that decides, or "default"; empty where no setting does

	rule *config.ScopeRule
}

// explain puts into words what a rule said.
func (said *Reason) explain(r *realm, s step) {
	switch said.Rule {
	case "seeds.uris":
		said.Why = r.explainSeed(s)
	case "scope.rules":
		said.Why = fmt.Sprintf("none of %d rules matches", len(r.scope.Rules))
		if said.rule != nil {
			said.Why, said.Where = said.rule.String(), fmt.Sprintf("%s:%d", said.rule.File, said.rule.Line)
		}
	case "scope.embeds_anywhere":
		said.Why = "it is not embedded"
		if s.hops.Trailing(uri.Embed) > 0 {
			said.Why = fmt.Sprintf("it is embedded, and scope.embeds_anywhere is %t", r.scope.EmbedsAnywhere)
		}
	case "scope.by":
		said.Why = r.explainMeasure(s)
	case "scope.seed_redirects":
		said.Why = r.explainLanding(s)
	default:
		said.Why = r.explainHops(said.Rule, said.Opinion, s.hops)
	}
	if said.Opinion != Silent && said.Where == "" && strings.HasPrefix(said.Rule, "scope.") {
		said.Where = r.origin(said.Rule)
	}
}

// origin is where a key of the realm's scope was set.
func (r *realm) origin(key string) string {
	if key == "scope.by" && r.scope.By == config.ByPrefix {
		if at := r.config.Origin(config.About{URI: r.root, Now: r.now}, "scope.prefixes"); at != "default" {
			return at
		}
	}
	return r.config.Origin(config.About{URI: r.root, Now: r.now}, key)
}

func (r *realm) explainSeed(s step) string {
	switch {
	case !r.listed:
		return fmt.Sprintf("no seed is listed on %s, from where it was found", r.root.Host())
	case s.hops == "":
		return "it is a seed"
	case s.hops.Count(uri.Prereq) > 0:
		return "it is a robots.txt"
	}
	return fmt.Sprintf("found from the seed %s by the path %s", r.root, s.hops)
}

func (r *realm) explainHops(rule string, o Opinion, p uri.HopPath) string {
	if l, over := r.over(p); over && o == Rejects {
		return fmt.Sprintf("%d %s, at most %d are allowed", l.count(p), l.what, l.most(&r.scope))
	}
	if o == Accepts {
		return "the seed redirects to it"
	}
	if rule == "scope.max_redirects" {
		return "no redirect of the seed led straight to it"
	}
	return fmt.Sprintf("%d steps from the seed: within all limits on hops", stepsOf(p))
}

func (r *realm) explainMeasure(s step) string {
	switch {
	case r.scope.By == config.ByPrefix:
		return fmt.Sprintf("by prefix: %s", strings.Join(r.scope.Prefixes, ", "))
	case r.config.SeedHost(s.uri.Host()):
		return fmt.Sprintf("%s is a host of the seeds", s.uri.Host())
	case r.scope.By == config.ByDomain:
		return fmt.Sprintf("its domain is %s, that of the seed %s", s.uri.Domain(), r.root.Domain())
	}
	return fmt.Sprintf("%s is no host of the seeds", s.uri.Host())
}

func (r *realm) explainLanding(s step) string {
	at := r.landing(s)
	if len(at) == 0 {
		return "the seed is not known to redirect"
	}
	return fmt.Sprintf("the seed redirects to %s; scope.seed_redirects is %q", at[len(at)-1], r.scope.SeedRedirects)
}

// OtherScheme is what keeps a URI out that is neither http nor https. It is false for http and https, and for what is no such
// URI: "localhost:8080" and "news.example:8080" are hosts with a port.
func OtherScheme(text string) (Reason, bool) {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(text), ":")
	isHost := strings.Contains(scheme, ".") || rest == "" || rest[0] >= '0' && rest[0] <= '9'
	if _, err := uri.Parse(text); isHost || !errors.Is(err, uri.ErrScheme) {
		return Reason{}, false
	}
	return Reason{Opinion: Rejects, Rule: "scheme", Why: strings.ToLower(scheme) + " is neither http nor https, and only these are crawled"}, true
}
