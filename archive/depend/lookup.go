package depend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// each calls do with each line that begins with a prefix and counts.
func (x *Index) each(prefix string, do func(line string) error) error {
	for i := range x.runs {
		if err := x.eachIn(i, prefix, do); err != nil {
			return err
		}
	}
	return nil
}

// eachOf is each for lines that begin with a file. They count in one run only.
func (x *Index) eachOf(file uint32, prefix string, do func(line string) error) error {
	for i, valid := range x.valid {
		if valid[file] {
			return x.eachIn(i, prefix, do)
		}
	}
	return nil
}

// eachIn is each for one run.
func (x *Index) eachIn(i int, prefix string, do func(line string) error) error {
	lines, err := x.runs[i].lines(prefix)
	if err != nil {
		return err
	}
	for _, line := range lines {
		n, err := fileOf(line)
		if err == nil && x.valid[i][n] {
			err = do(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachCapture calls work for each capture of a file, on all processors, because a disk answers many at a time. It calls
// finish with the results, in the order of the file.
func eachCapture[T any](
	x *Index, file uint32, work func(c capture) (T, error), finish func(c capture, result T) error,
) error {
	const portion = 64
	var all []capture
	err := x.eachOf(file, fileKey(file), func(line string) error {
		c, err := parseCapture(line)
		all = append(all, c)
		return err
	})
	if err != nil {
		return err
	}
	portions := slices.Collect(slices.Chunk(all, portion))
	results := make([][]T, len(portions))
	return warc.ForEach(context.Background(), len(portions), func(_ context.Context, i int) error {
		for _, c := range portions[i] {
			result, err := work(c)
			if err != nil {
				return err
			}
			results[i] = append(results[i], result)
		}
		return nil
	}, func(i int) error {
		for j, c := range portions[i] {
			if err := finish(c, results[i][j]); err != nil {
				return err
			}
		}
		results[i] = nil
		return nil
	})
}

func (x *Index) at(p place) (c capture, err error) {
	found := false
	err = x.eachOf(p.file, captureKey(p.file, p.offset), func(line string) error {
		found = true
		c, err = parseCapture(line)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("the dependency index lacks the capture at %s:%d: make the index again",
			x.store.names[p.file], p.offset)
	}
	return c, err
}

// candidate is a capture that a revisit may refer to.
type candidate struct {
	place
	micro int64
}

// candidates returns the captures of a URI within the second of a moment.
func (x *Index) candidates(m moment) (all []candidate, err error) {
	err = x.each(m.secondKey("0"), func(line string) error {
		micro, at, err := parseMoment(line)
		all = append(all, candidate{at, micro})
		return err
	})
	return all, err
}

// original returns the place of the capture that a revisit refers to: of those within its second the one that fits
// best.
func (x *Index) original(c capture) (best place, found bool, err error) {
	if c.to == (moment{}) {
		return best, false, nil
	}
	all, err := x.candidates(c.to)
	if err != nil || len(all) == 0 {
		return best, false, err
	}
	if len(all) == 1 {
		return all[0].place, true, nil
	}
	fits := math.MinInt
	for _, candidate := range all {
		other, err := x.at(candidate.place)
		if err != nil {
			return best, false, err
		}
		known := other.digest != noDigest && c.digest != noDigest
		if n := warc.Fit(true, known, known && other.digest == c.digest, candidate.micro == c.to.micro); n > fits {
			fits, best = n, candidate.place
		}
	}
	return best, true, nil
}

// revisits returns the places of the revisits of a response.
func (x *Index) revisits(o capture) (places []place, err error) {
	key, captures := o.moment().secondKey(""), 0
	err = x.each(key, func(line string) error {
		if line[len(key)] == '0' {
			captures++
			return nil
		}
		_, at, err := parseMoment(line)
		places = append(places, at)
		return err
	})
	// Several captures may be of one second: only one of them is the original.
	if err != nil || len(places) == 0 || captures == 1 {
		return places, err
	}
	own := places[:0]
	for _, p := range places {
		c, err := x.at(p)
		if err != nil {
			return nil, err
		}
		is, found, err := x.original(c)
		if err != nil {
			return nil, err
		}
		if found && is == (place{o.file, o.offset}) {
			own = append(own, p)
		}
	}
	return own, nil
}

// elsewhere reports whether a payload is also in a file that is here and not in the set.
func (x *Index) elsewhere(digest string, set map[uint32]bool) (found bool, err error) {
	if saved, known := x.saved.Load(digest); known || digest == noDigest {
		return known && saved.(bool), nil
	}
	defer func() { x.keep(digest, found) }()
	err = x.each(byDigest+digest, func(line string) error {
		n, err := fileOf(line)
		if err == nil && !set[n] && x.isHere(n) {
			found, err = true, errFound
		}
		return err
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}

// maxAnswers is the maximum number of answers that are kept.
const maxAnswers = 100_000

// keep keeps an answer of elsewhere. It forgets all others when they are too many.
func (x *Index) keep(digest string, answer bool) {
	if x.kept.Add(1) > maxAnswers {
		x.saved.Clear()
		x.kept.Store(1)
	}
	x.saved.Store(digest, answer)
}

// errFound ends a search.
var errFound = errors.New("found")

func (x *Index) isHere(n uint32) bool {
	_, ok := x.here[x.store.names[n]]
	return ok
}
