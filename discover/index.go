package discover

import "hash/maphash"

// index finds the place of a link by the text of its URI. It is a hash table of places without texts: a page may have
// thousands of links, and filling a map of their texts takes longer than reading the page.
type index struct {
	seed  maphash.Seed
	slots []slot // their number is a power of two, and at least half are free
	n     int
}

// slot holds some bits of the hash of a text, and the place of the link plus 1. The zero slot is free.
type slot struct{ sum, after uint32 }

// firstSlots is the initial number of slots.
const firstSlots = 64

func newIndex() index { return index{seed: maphash.MakeSeed(), slots: make([]slot, firstSlots)} }

// find returns the place of the link whose URI has this text. If there is none, put takes sum to add it.
func (x *index) find(text []byte, links []Link) (place int, sum uint32, ok bool) {
	sum = uint32(maphash.Bytes(x.seed, text))
	for pos := x.first(sum); ; pos = x.next(pos) {
		switch s := x.slots[pos]; {
		case s.after == 0:
			return none, sum, false
		case s.sum == sum && links[s.after-1].URI.String() == string(text):
			return int(s.after - 1), sum, true
		}
	}
}

// put stores the place of a link that find did not find.
func (x *index) put(sum uint32, place int) {
	if x.n++; 2*x.n > len(x.slots) {
		old := x.slots
		x.slots = make([]slot, 2*len(old))
		for _, s := range old {
			if s.after != 0 {
				x.fill(s)
			}
		}
	}
	x.fill(slot{sum, uint32(place + 1)})
}

func (x *index) fill(s slot) {
	at := x.first(s.sum)
	for x.slots[at].after != 0 {
		at = x.next(at)
	}
	x.slots[at] = s
}

func (x *index) first(sum uint32) int { return int(sum) & (len(x.slots) - 1) }
func (x *index) next(at int) int      { return (at + 1) & (len(x.slots) - 1) }
