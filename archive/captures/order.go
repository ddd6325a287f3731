package captures

import (
	"iter"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/index"
)

// errStop ends the reading of an index before its end.
type errStop struct{}

func (errStop) Error() string { return "nothing more is wanted" }

// Ordered calls do with the captures whose lines in an index begin with a prefix, by key and time, until do returns
// false. The prefix is one of keys, or a key and a space. It keeps only the lines of files that are still open in
// memory.
func (l *Library) Ordered(prefix string, do func(index.Entry) (more bool)) error {
	var open []index.Entry
	key, _, exact := strings.Cut(prefix, " ")
	is := func(k string) bool { return k == key || !exact && strings.HasPrefix(k, key) }
	if l.live != nil {
		keep := func(e index.Entry) error { open = append(open, e); return nil }
		if err := l.live.EachBelow(is, keep); err != nil {
			return err
		}
	}
	for _, e := range l.read {
		if is(e.Key) {
			open = append(open, e)
		}
	}
	slices.SortFunc(open, index.Compare)
	var failed error
	sources := []iter.Seq[index.Entry]{slices.Values(open)}
	for _, x := range l.indexes {
		sources = append(sources, func(yield func(index.Entry) bool) {
			err := x.each(prefix, func(e index.Entry) error {
				if !yield(e) {
					return errStop{}
				}
				return nil
			}, func(error) error { return nil })
			if err != nil && err != error(errStop{}) {
				failed = err
			}
		})
	}
	merge(sources, do)
	return failed
}

// merge calls do with the entries of sorted sources in order, once if an entry is in two, until it returns false.
func merge(sources []iter.Seq[index.Entry], do func(index.Entry) (more bool)) {
	type head struct {
		e    index.Entry
		next func() (index.Entry, bool)
	}
	var heads []head
	for _, s := range sources {
		next, stop := iter.Pull(s)
		defer stop()
		if e, ok := next(); ok {
			heads = append(heads, head{e, next})
		}
	}
	var last index.Entry
	for len(heads) > 0 {
		first := 0
		for i := range heads {
			if index.Compare(heads[i].e, heads[first].e) < 0 {
				first = i
			}
		}
		e := heads[first].e
		if !isSame(e, last) && !do(e) {
			return
		}
		last = e
		var ok bool
		if heads[first].e, ok = heads[first].next(); !ok {
			heads = slices.Delete(heads, first, first+1)
		}
	}
}
