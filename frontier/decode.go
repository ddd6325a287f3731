package frontier

import (
	"math"

	"github.com/fxamacker/cbor/v2"
)

// decoder reads rows as [encoder] writes them. Whatever looks otherwise it leaves to the general decoder, which knows all of
// CBOR and says what is wrong: bad tells so.
type decoder[T string | []byte] struct {
	rest T
	left uint64 // fields of the map
	bad  bool
}

// item is a value. Only what its major type has is set.
type item[T string | []byte] struct {
	major byte
	n     uint64
	data  T // of a byte string
}

func decodeFrom[T string | []byte](row T) decoder[T] {
	d := decoder[T]{rest: row}
	if major, n := d.head(); major == 5 {
		d.left = n
	} else {
		d.bad = true
	}
	return d
}

// head reads a major type and its number. For the major type 7 the number is that of a float or a simple value.
func (d *decoder[T]) head() (major byte, n uint64) {
	if len(d.rest) == 0 {
		d.bad = true
		return 0, 0
	}
	major, n = d.rest[0]>>5, uint64(d.rest[0]&31)
	d.rest = d.rest[1:]
	if n < 24 {
		return major, n
	}
	size := 1 << (n - 24)
	if n > 27 || len(d.rest) < size {
		d.bad = true
		return 0, 0
	}
	n = 0
	for i := range size {
		n = n<<8 | uint64(d.rest[i])
	}
	d.rest = d.rest[size:]
	if major == 7 && size != 8 {
		d.bad = true
	}
	return major, n
}

// next reads a field; more is false at the end of the row.
func (d *decoder[T]) next() (k uint64, v item[T], more bool) {
	if d.bad || d.left == 0 {
		d.bad = d.bad || len(d.rest) > 0
		return 0, v, false
	}
	d.left--
	major, k := d.head()
	d.bad = d.bad || major != 0
	if v.major, v.n = d.head(); v.major == 2 {
		if uint64(len(d.rest)) < v.n {
			d.bad = true
			return 0, v, false
		}
		v.data, d.rest = d.rest[:v.n], d.rest[v.n:]
	}
	return k, v, !d.bad
}

// skip passes over the fields of a value, of which only the head was read.
func (d *decoder[T]) skip(v item[T]) {
	n := v.n
	switch v.major {
	case 4:
	case 5:
		n = min(2*n, math.MaxInt)
	case 6:
		d.bad = true
		return
	default:
		return
	}
	for ; n > 0 && !d.bad; n-- {
		inner, size := d.head()
		switch {
		case inner == 2 && size <= uint64(len(d.rest)):
			d.rest = d.rest[size:]
		case inner != 0 && inner != 1:
			d.bad = true // deeper than any row goes
		}
	}
}

func (d *decoder[T]) text(v item[T], to *cbor.ByteString) {
	if v.major != 2 {
		d.bad = true
	}
	*to = cbor.ByteString(v.data)
}

func (d *decoder[T]) number(v item[T], to *int64) {
	switch {
	case v.n > math.MaxInt64:
		d.bad = true
	case v.major == 0:
		*to = int64(v.n)
	case v.major == 1:
		*to = -1 - int64(v.n)
	default:
		d.bad = true
	}
}

func (d *decoder[T]) small(v item[T], to *int) {
	var n int64
	d.number(v, &n)
	if *to = int(n); int64(*to) != n {
		d.bad = true
	}
}

func (d *decoder[T]) unsigned(v item[T], to *uint64) {
	if v.major != 0 {
		d.bad = true
	}
	*to = v.n
}

func (d *decoder[T]) flag(v item[T], to *bool) {
	if v.major != 7 || v.n != 20 && v.n != 21 {
		d.bad = true
	}
	*to = v.n == 21
}

func (d *decoder[T]) float(v item[T], to *float64) {
	if v.major != 7 || v.n < 1<<32 { // neither a simple value nor a number too small to be a rate
		d.bad = true
	}
	*to = math.Float64frombits(v.n)
}

// quick is a row that can be read by a [decoder]; when ok is false the general one must do it, and the row is as it was.
type quick interface{ read(v []byte) (ok bool) }

func (w *uriRow) read(v []byte) bool {
	var is uriRow
	d := decodeFrom(string(v)) // one copy, of which all texts are parts
	for {
		k, v, more := d.next()
		if !more {
			break
		}
		if !is.field(&d, k, v) && !is.capture(&d, k, v) {
			return false
		}
	}
	if !d.bad {
		*w = is
	}
	return !d.bad
}

// field takes a field about the URI and its visits.
func (w *uriRow) field(d *decoder[string], k uint64, v item[string]) bool {
	switch k {
	case 1:
		d.text(v, &w.URI)
	case 2:
		d.text(v, &w.Hops)
	case 3:
		d.text(v, &w.Via)
	case 4:
		d.text(v, &w.Seed)
	case 5:
		d.number(v, &w.FirstSeen)
	case 6:
		d.number(v, &w.LastVisit)
	case 7:
		d.number(v, &w.LastCapture)
	case 8:
		d.number(v, &w.LastChange)
	case 9:
		d.number(v, &w.Due)
	case 10:
		d.small(v, &w.Visits)
	case 11:
		d.small(v, &w.Versions)
	case 12:
		d.small(v, &w.Failures)
	case 13:
		d.small(v, &w.Unread)
	case 14:
		d.small(v, &w.LastStatus)
	case 15:
		d.number(v, &w.Wait)
	case 26:
		d.flag(v, &w.Forbidden)
	case 28:
		d.number(v, &w.LastRead)
	case 29:
		d.small(v, &w.Gone)
	case 80:
		d.flag(v, &w.Held)
	default:
		return false
	}
	return true
}

// capture takes a field about the last capture and what was learned.
func (w *uriRow) capture(d *decoder[string], k uint64, v item[string]) bool {
	switch k {
	case 16:
		d.text(v, &w.ContentType)
	case 17:
		d.small(v, &w.Status)
	case 18:
		d.text(v, &w.Location)
	case 19:
		d.text(v, &w.ETag)
	case 20:
		d.text(v, &w.LastMod)
	case 21:
		d.text(v, &w.Payload)
	case 22:
		d.text(v, &w.Comparison)
	case 23:
		d.unsigned(v, &w.Rules)
	case 24:
		d.number(v, &w.Size)
	case 25:
		w.Origin = &originRow{}
		return w.Origin.fields(d, v)
	case 27:
		d.unsigned(v, &w.Sketch)
	case 30:
		d.text(v, &w.Memory)
	case 31:
		d.text(v, &w.Recent)
	case 40:
		d.float(v, &w.Rate)
	case 50:
		d.text(v, &w.Source)
	case 51:
		d.number(v, &w.Born)
	case 52:
		d.flag(v, &w.Urgent)
	case 53:
		d.flag(v, &w.Prompt)
	case 54:
		d.number(v, &w.SaidChanged)
	case 55:
		d.number(v, &w.SaidNothing)
	case 85:
		d.text(v, &w.Why)
	default:
		return false
	}
	return true
}

func (w *originRow) fields(d *decoder[string], v item[string]) bool {
	if v.major != 5 {
		return false
	}
	inner := decoder[string]{rest: d.rest, left: v.n}
	for inner.left > 0 {
		k, v, more := inner.next()
		if !more {
			return false
		}
		switch k {
		case 1:
			inner.text(v, &w.RecordID)
		case 2:
			inner.text(v, &w.URI)
		case 3:
			inner.number(v, &w.Date)
		case 4:
			inner.text(v, &w.Payload)
		case 5:
			inner.text(v, &w.File)
		case 6:
			inner.number(v, &w.Offset)
		case 7:
			inner.number(v, &w.Length)
		case 8:
			inner.number(v, &w.Size)
		default:
			return false
		}
	}
	d.rest = inner.rest
	return !inner.bad
}

func (w *contenderRow) read(v []byte) bool {
	var is contenderRow
	d := decodeFrom(v)
	for {
		k, v, more := d.next()
		if !more {
			break
		}
		switch k {
		case 2:
			d.text(v, &is.Hops)
		case 6:
			d.number(v, &is.LastVisit)
		case 9:
			d.number(v, &is.Due)
		case 15:
			d.number(v, &is.Wait)
		case 16:
			d.text(v, &is.ContentType)
		case 40:
			d.float(v, &is.Rate)
		case 50:
			d.text(v, &is.Source)
		case 52:
			d.flag(v, &is.Urgent)
		case 80:
			d.flag(v, &is.Held)
		default:
			d.skip(v)
		}
	}
	if !d.bad {
		*w = is
	}
	return !d.bad
}

func (w *hostRow) read(v []byte) bool {
	var is hostRow
	d := decodeFrom(string(v))
	for {
		k, v, more := d.next()
		if !more {
			break
		}
		if !is.field(&d, k, v) {
			return false
		}
	}
	if !d.bad {
		*w = is
	}
	return !d.bad
}

func (w *hostRow) field(d *decoder[string], k uint64, v item[string]) bool {
	switch k {
	case 1:
		d.text(v, &w.Name)
	case 2:
		w.wakes(d, v)
	case 3:
		d.number(v, &w.Rest)
	case 4:
		d.small(v, &w.Failures)
	case 5:
		d.text(v, &w.Mark)
	case 6:
		d.number(v, &w.URIs)
	case 7:
		d.number(v, &w.Queued)
	case 8:
		d.number(v, &w.Forbidden)
	case 20:
		d.number(v, &w.Held)
	case 21:
		d.number(v, &w.Paused)
	case 22:
		d.number(v, &w.Asked)
	case 23:
		d.flag(v, &w.Counted)
	case 24:
		d.number(v, &w.Usual)
	default:
		return false
	}
	return true
}

// wakes takes the wake time of each slot.
func (w *hostRow) wakes(d *decoder[string], v item[string]) {
	if v.major != 4 || v.n > maxValence {
		d.bad = true
		return
	}
	w.Wake = make([]int64, v.n)
	for i := range w.Wake {
		var at item[string]
		at.major, at.n = d.head()
		d.number(at, &w.Wake[i])
	}
}
