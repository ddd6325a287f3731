package index

import "slices"

// Newest returns the newest captures of exactly a URI, at most limit, oldest first; and how many there are in all.
func (l *Library) Newest(uri string, limit int) (newest []Entry, count int, err error) {
	shrink := func() {
		slices.SortFunc(newest, compareEntries)
		before := len(newest)
		newest = slices.CompactFunc(newest, isSame)
		count -= before - len(newest)
		newest = slices.Delete(newest, 0, max(0, len(newest)-limit))
	}
	err = l.each(uri, func(e Entry) {
		if e.URL != uri {
			return
		}
		newest = append(newest, e)
		if count++; len(newest) == 2*limit+1 {
			shrink()
		}
	})
	shrink()
	return newest, count, err
}

// Nearest returns the entry with the key of a URI that is better than all others. ok is false if there is none. Of two
// entries neither of which is better than the other, it takes the later one.
func (l *Library) Nearest(uri string, isBetter func(a, b Entry) bool) (best Entry, ok bool, err error) {
	err = l.each(uri, func(e Entry) {
		later := compareEntries(e, best) > 0 && !isBetter(best, e)
		if !ok || later || isBetter(e, best) {
			best, ok = e, true
		}
	})
	return best, ok, err
}

// Place is where a capture is among the captures of its URI.
type Place struct {
	Number, Count int   // the oldest has the number 1
	Before, After Entry // the captures next to it; zero if there is none
}

// PlaceOf returns the place of a capture.
func (l *Library) PlaceOf(c Entry) (p Place, err error) {
	p.Number, p.Count = 1, 1
	err = l.each(c.URL, func(e Entry) {
		if e.URL != c.URL || isSame(e, c) || isSame(e, p.Before) || isSame(e, p.After) {
			return
		}
		p.Count++
		if compareEntries(e, c) < 0 {
			p.Number++
			if p.Before.URL == "" || compareEntries(e, p.Before) > 0 {
				p.Before = e
			}
		} else if p.After.URL == "" || compareEntries(e, p.After) < 0 {
			p.After = e
		}
	})
	return p, err
}
