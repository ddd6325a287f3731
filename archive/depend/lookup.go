package depend

import (
	"fmt"
	"math"

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

// captures calls do with each capture of a file, in the order of the file.
func (x *Index) captures(file uint32, do func(c capture) error) error {
	return x.eachOf(file, fileKey(file), func(line string) error {
		c, err := parseCapture(line)
		if err == nil {
			err = do(c)
		}
		return err
	})
}

// at returns the capture at a place.
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
	for _, one := range all {
		other, err := x.at(one.place)
		if err != nil {
			return best, false, err
		}
		known := other.digest != noDigest && c.digest != noDigest
		if n := warc.Fit(true, known, known && other.digest == c.digest, one.micro == c.to.micro); n > fits {
			fits, best = n, one.place
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
	if saved, known := x.saved[digest]; known || digest == noDigest {
		return saved, nil
	}
	if len(x.saved) >= maxSaved {
		clear(x.saved)
	}
	defer func() { x.saved[digest] = found }()
	err = x.each(byDigest+digest, func(line string) error {
		n, err := fileOf(line)
		if err == nil && !set[n] && x.isHere(n) {
			found = true
		}
		return err
	})
	return found, err
}

func (x *Index) isHere(n uint32) bool {
	_, ok := x.here[x.store.names[n]]
	return ok
}
