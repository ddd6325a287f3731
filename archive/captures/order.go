package captures

import (
	"errors"
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
	merge(sources, func(e index.Entry) (more bool) { return !l.shows(e) || do(e) })
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

// maxSteps is the number of lines of a key that are read before the next key is searched instead.
const maxSteps = 50

// InOrder calls do with all captures by key and time, until it returns an error.
func (l *Library) InOrder(do func(index.Entry) error) (err error) {
	failed := l.Ordered("", func(e index.Entry) bool {
		err = do(e)
		return err == nil
	})
	return errors.Join(err, failed)
}

// EachKey calls see with one capture of each key that begins with a prefix, in no order, and perhaps with several of a
// key, until see returns false. Of keys with many captures it reads a few lines.
func (l *Library) EachKey(prefix string, see func(index.Entry) (more bool)) error {
	last, more := "", true
	one := func(e index.Entry) error {
		if !l.shows(e) {
			return nil
		}
		if more = e.Key == last || see(e); !more {
			return errStop{}
		}
		last = e.Key
		return nil
	}
	begins := func(key string) bool { return strings.HasPrefix(key, prefix) }
	for _, e := range l.read {
		if begins(e.Key) && one(e) != nil {
			return nil
		}
	}
	if l.live != nil {
		if err := l.live.EachBelow(begins, one); err != nil && err != error(errStop{}) {
			return err
		}
	}
	for _, x := range l.indexes {
		for from := prefix; more && from != ""; {
			next, err := x.keysFrom(from, prefix, one)
			if err != nil && err != error(errStop{}) {
				return err
			}
			from = next
		}
	}
	return nil
}

// keysFrom calls one with a capture of each key at or after a text that begins with a prefix, until it has read many
// lines of one key. It returns what follows them, or "" behind the last key.
func (x sortedIndex) keysFrom(from, prefix string, one func(index.Entry) error) (next string, err error) {
	at, err := index.SearchLines(x.size, index.MaxLine/16, from, x.lineAfter)
	if err != nil {
		return "", err
	}
	lines, err := x.linesFrom(at)
	if err != nil {
		return "", err
	}
	last, steps := "", 0
	for lines.Scan() {
		line := lines.Text()
		if line < from {
			continue
		}
		if !strings.HasPrefix(line, prefix) {
			return "", nil
		}
		key, _, _ := strings.Cut(line, " ")
		if key == last {
			if steps++; steps > maxSteps {
				return key + "!", nil // behind the space, which no key has
			}
			continue
		}
		e, err := index.ParseEntry(line)
		if err != nil || !x.counts(e.Filename) {
			continue
		}
		if err := one(e); err != nil {
			return "", err
		}
		last, steps = key, 0
	}
	return "", lines.Err()
}
