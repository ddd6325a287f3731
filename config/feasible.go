package config

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// warnPace warns of seeds that want to be visited more often than the politeness of their host allows.
func (l *loader) warnPace() {
	c := &l.config
	type load struct {
		seed  Seed
		count int
		rate  float64 // visits a second
	}
	loads := map[uri.Host]*load{}
	var order []uri.Host
	for _, s := range c.Seeds {
		h := s.URI.Host()
		if loads[h] == nil {
			loads[h] = &load{seed: s}
			order = append(order, h)
		}
		loads[h].count++
		loads[h].rate += 1 / shortestWait(c.ForHost(h, time.Time{}).Wait).Seconds()
	}
	for _, h := range order {
		p := c.ForHost(h, time.Time{}).Politeness
		carries := float64(max(p.Valence, 1)) / max(p.MinDelay, time.Millisecond).Seconds()
		at := loads[h]
		if at.rate <= carries {
			continue
		}
		l.stray.warn(Fault{
			File: at.seed.File, Line: at.seed.Line, Column: 1, Key: "seeds.uris",
			Problem: fmt.Sprintf("the %d seeds of %s may be visited %.3g times a minute in all by wait.min, and politeness.min_delay %q allows %.3g at best",
				at.count, h, at.rate*60, spell(p.MinDelay), carries*60),
			Remedy: "raise wait.min, or lower min_delay if the site agrees; until then they are late, not impolite",
		})
	}
}

// shortestWait is the wait that a page of HTML can have at the least.
func shortestWait(s evaluators.Stack) time.Duration {
	for _, e := range s {
		if e.MIME.MatchString("text/html") {
			shortest, _ := e.Rule.Bounds()
			return max(shortest, time.Millisecond)
		}
	}
	return 365 * day
}

// warnNever warns of a refinement whose URI expression can match nothing, since every URI begins with its scheme.
func (l *layer) warnNever(h uri.Host) {
	if l.criteria.uri == nil {
		return
	}
	at := field{doc: l.doc, name: "when.uri", path: under(l.path, "uri"), value: l.criteria.uri.String()}
	head, ok := beginning(l.criteria.uri.String())
	if !ok {
		return
	}
	scheme := ""
	for _, s := range []string{"http://", "https://"} {
		if strings.HasPrefix(head, s) || strings.HasPrefix(s, head) {
			scheme = s
		}
	}
	if scheme == "" {
		at.warn("can never match: a URI begins with http:// or https://", "leave the ^ away, or write the URI from its scheme on")
		return
	}
	rest, whole := strings.CutPrefix(head, scheme)
	name, _, ends := strings.Cut(rest, "/")
	if other := uri.Host(name); whole && ends && h != "" && other != h && !below(other, h) {
		at.warn(fmt.Sprintf("can never match: this file is for %s", h), "move it to the file of that host or to the main file")
	}
}

// beginning is the text that every match of an anchored expression begins with.
func beginning(expr string) (string, bool) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", false
	}
	re = re.Simplify()
	if re.Op != syntax.OpConcat || len(re.Sub) < 2 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[1].Op != syntax.OpLiteral || re.Sub[1].Flags&syntax.FoldCase != 0 {
		return "", false
	}
	return string(re.Sub[1].Rune), true
}
