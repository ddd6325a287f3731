package verify

import (
	"cmp"
	"slices"
	"sort"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// isBare reports whether a revisit names no original, as Heritrix wrote revisits before version 3.1.2. Its original is
// the last earlier capture of the same URI with the same payload.
func (ref reference) isBare() bool {
	return ref.original != nil && ref.to == "" && (ref.toURI == "" || ref.toDate == "")
}

// version returns the URI and payload of a revisit. ok is false if the revisit has no digest that can be read.
func (ref reference) version() (v version, ok bool) {
	d, err := warc.ParseDigest(ref.digest)
	if err != nil || d.IsZero() {
		return version{}, false
	}
	return version{depend.KeyOf(ref.uri), depend.KeyOf(string(d.Value)), d.Algorithm}, true
}

// findVersions finds the captures that may be the originals of revisits which name none, by date.
func (res *resolver) findVersions(refs []reference) {
	res.versions = map[version][]int32{}
	for _, ref := range refs {
		if ref.isBare() {
			if v, ok := ref.version(); ok {
				res.versions[v] = nil
			}
		}
	}
	if len(res.versions) == 0 {
		return
	}
	for i, f := range res.facts {
		if f.Kind != depend.KindFull {
			continue
		}
		v := version{f.URI, f.Payload, f.Method}
		if all, wanted := res.versions[v]; wanted {
			res.versions[v] = append(all, int32(i))
		}
	}
	for _, all := range res.versions {
		slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(res.facts[a].Date, res.facts[b].Date) })
	}
}

// byPayload returns the last capture of the URI and payload of a revisit that is not later than the revisit.
func (res *resolver) byPayload(ref reference) (last int32, found bool) {
	v, _ := ref.version()
	all := res.versions[v]
	later := sort.Search(len(all), func(i int) bool { return res.facts[all[i]].Date > ref.date })
	if later == 0 {
		return 0, false
	}
	return all[later-1], true
}
