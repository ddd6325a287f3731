package crawler

import (
	"crypto/sha256"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// NameChange are two known URIs that other rules make one, or part.
type NameChange struct {
	A, B uri.URI
	Name string // that they would have, or had, both
}

// ChangedNames is what other rules make of the known URIs.
type ChangedNames struct {
	Hosts, URIs    int          // whose rules are others
	Merged, Parted int          // URIs that are one with another only afterwards, and only before
	Merges, Splits []NameChange // examples
}

// NameChanges tells which known URIs would become one, and which would part, if the rules of hosts changed. Each gives all
// known URIs; examples bounds each list of examples. It remembers 40 bytes of each URI on the hosts whose rules change, and
// of each URI on a host whose rules give more than one URI the same name.
func NameChanges(each func(func(frontier.Record) error) error, before, after func(uri.Host) *uri.Naming, examples int) (ChangedNames, error) {
	var found ChangedNames
	hosts := map[uri.Host]bool{} // whether the rules are others
	one := map[bool]map[nameSum]uri.URI{false: {}, true: {}}
	err := each(func(r frontier.Record) error {
		h := r.URI.Host()
		was, is := before(h), after(h)
		other, known := hosts[h]
		if !known {
			other = was.Notation() != is.Notation()
			hosts[h] = other
			if other {
				found.Hosts++
			}
		}
		if other {
			found.URIs++
		}
		if was.Plain() && is.Plain() {
			return nil
		}
		old, name := was.Name(r.URI), is.Name(r.URI)
		first, merges := meet(one[true], name, r.URI)
		former, parts := meet(one[false], old, r.URI)
		if merges && was.Name(first) != old {
			found.Merged++
			if len(found.Merges) < examples {
				found.Merges = append(found.Merges, NameChange{A: first, B: r.URI, Name: name})
			}
		}
		if parts && is.Name(former) != name {
			found.Parted++
			if len(found.Splits) < examples {
				found.Splits = append(found.Splits, NameChange{A: former, B: r.URI, Name: old})
			}
		}
		return nil
	})
	return found, err
}

type nameSum [16]byte

// meet notes that a URI has a name, and gives the first one that had it.
func meet(by map[nameSum]uri.URI, name string, u uri.URI) (first uri.URI, met bool) {
	all := sha256.Sum256([]byte(name))
	k := nameSum(all[:])
	if first, met = by[k]; !met {
		by[k] = u
	}
	return first, met
}
