package whatif

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// NameChange is a pair of URIs that get the same name, or no longer share one.
type NameChange struct {
	A    uri.URI `json:"uri"`
	B    uri.URI `json:"other"`
	Name string  `json:"name"` // the common name
}

// Names is the effect of changed name rules on known URIs. It is absent if no rule changed.
type Names struct {
	Hosts    int          `json:"hosts"`    // with changed rules
	URIs     int          `json:"uris"`     // on these hosts
	Merged   int          `json:"merged"`   // get the name of another URI
	Parted   int          `json:"split"`    // no longer share a name with another URI
	Complete bool         `json:"complete"` // false: not all URIs were checked
	Merges   []NameChange `json:"merges"`   // examples
	Splits   []NameChange `json:"splits"`
	Text     string       `json:"text"`
}

// NameChanges returns which known URIs would be merged, and which would be split, if the naming rules of hosts changed.
// each calls a function with every known URI. examples bounds each list of examples.
//
// NameChanges remembers 40 bytes per URI on the hosts whose rules change, and per URI on the hosts whose rules merge
// URIs.
func NameChanges(
	each func(func(frontier.Record) error) error, before, after func(uri.Host) *uri.Naming, examples int,
) (Names, error) {
	changed := Names{Merges: []NameChange{}, Splits: []NameChange{}}
	hosts := map[uri.Host]bool{} // whether the rules change
	firstBefore, firstAfter := map[nameSum]uri.URI{}, map[nameSum]uri.URI{}
	err := each(func(r frontier.Record) error {
		h := r.URI.Host()
		was, is := before(h), after(h)
		differ, known := hosts[h]
		if !known {
			differ = was.Notation() != is.Notation()
			hosts[h] = differ
			if differ {
				changed.Hosts++
			}
		}
		if differ {
			changed.URIs++
		}
		if was.Plain() && is.Plain() {
			return nil
		}
		oldName, newName := was.Name(r.URI), is.Name(r.URI)
		merged, merges := firstOf(firstAfter, newName, r.URI)
		parted, parts := firstOf(firstBefore, oldName, r.URI)
		if merges && was.Name(merged) != oldName {
			changed.Merged++
			if len(changed.Merges) < examples {
				changed.Merges = append(changed.Merges, NameChange{A: merged, B: r.URI, Name: newName})
			}
		}
		if parts && is.Name(parted) != newName {
			changed.Parted++
			if len(changed.Splits) < examples {
				changed.Splits = append(changed.Splits, NameChange{A: parted, B: r.URI, Name: oldName})
			}
		}
		return nil
	})
	return changed, err
}

// nameSum is the beginning of a name's SHA-256, to save memory.
type nameSum [16]byte

// firstOf returns the first URI that had a name. If there was none, it remembers u and reports false.
func firstOf(urisByName map[nameSum]uri.URI, name string, u uri.URI) (first uri.URI, ok bool) {
	sum := sha256.Sum256([]byte(name))
	key := nameSum(sum[:])
	if first, ok = urisByName[key]; !ok {
		urisByName[key] = u
	}
	return first, ok
}

// Bounds of the search for names that change in a plan. It remembers some 200 bytes per URI meanwhile.
const (
	maxNames        = 100_000
	maxNamesTime    = 5 * time.Second
	maxNameExamples = 10
)

// String returns a line for people.
func (n Names) String() string {
	incomplete := ""
	if !n.Complete {
		incomplete = " or more; this plan did not look at all URIs, arcrawl canon --changes does"
	}
	const format = "names: rules change for %d known URIs on %d hosts; %d are merged with another URI, %d are split from one%s"
	return fmt.Sprintf(format, n.URIs, n.Hosts, n.Merged, n.Parted, incomplete)
}

// planNames adds the effect of changed naming rules to the plan. It looks at the hosts whose rules change, and then at
// other hosts whose URIs may share a name with theirs.
func (p *planner) planNames() error {
	rulesOf := func(c *config.Config) func(uri.Host) *uri.Naming {
		return func(h uri.Host) *uri.Naming { n := c.ForHost(h, p.now).Names; return &n }
	}
	before, after := rulesOf(p.before), rulesOf(p.after)
	var changed, others []uri.Host
	for _, h := range p.frontier.Hosts(p.now) {
		switch was, is := before(h.Host), after(h.Host); {
		case h.URIs == 0:
		case was.Notation() != is.Notation():
			changed = append(changed, h.Host)
		case !was.Plain():
			others = append(others, h.Host)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	deadline, left, complete := time.Now().Add(maxNamesTime), maxNames, true
	names, err := NameChanges(func(see func(frontier.Record) error) error {
		for _, h := range slices.Concat(changed, others) {
			err := p.eachURI(h, func(e frontier.Entry) (bool, error) {
				if left == 0 || time.Now().After(deadline) {
					complete = false
					return false, nil
				}
				left--
				return true, see(e.Record)
			})
			if err != nil {
				return fmt.Errorf("look at the names of %s: %w", h, err)
			}
		}
		return nil
	}, before, after, maxNameExamples)
	names.Complete = complete
	names.Text = names.String()
	p.plan.Names = &names
	return err
}
