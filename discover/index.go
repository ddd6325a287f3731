package discover

import "hash/maphash"

// index finds the place of a link by the text of its URI. It holds no text, only where to look: a page may have thousands of
// links, and a map of their texts takes longer to fill than to read the page.
type index struct {
	seed  maphash.Seed
	slots []indexed // a power of two of them, of which half are free
	n     int
}

// indexed is a slot: some bits of the sum of a text, and 1 more than the place of the link; 0 is a free slot.
type indexed struct{ sum, after uint32 }

// firstSlots is how many slots there are for the first links.
const firstSlots = 64

func newIndex() index { return index{seed: maphash.MakeSeed(), slots: make([]indexed, firstSlots)} }

// find gives the place of the link whose URI has this text, and what put takes to add it if there is none.
func (x *index) find(text []byte, links []Link) (place int, sum uint32, ok bool) {
	sum = uint32(maphash.Bytes(x.seed, text))
	for at := x.first(sum); ; at = x.next(at) {
		switch s := x.slots[at]; {
		case s.after == 0:
			return none, sum, false
		case s.sum == sum && links[s.after-1].URI.String() == string(text):
			return int(s.after - 1), sum, true
		}
	}
}

// put notes the place of a link that was not found.
func (x *index) put(sum uint32, place int) {
	if x.n++; 2*x.n > len(x.slots) {
		old := x.slots
		x.slots = make([]indexed, 2*len(old))
		for _, s := range old {
			if s.after != 0 {
				x.fill(s)
			}
		}
	}
	x.fill(indexed{sum, uint32(place + 1)})
}

func (x *index) fill(s indexed) {
	at := x.first(s.sum)
	for x.slots[at].after != 0 {
		at = x.next(at)
	}
	x.slots[at] = s
}

func (x *index) first(sum uint32) int { return int(sum) & (len(x.slots) - 1) }
func (x *index) next(at int) int      { return (at + 1) & (len(x.slots) - 1) }
