package fetch

// How much is reserved at a time for a body whose length is not known. firstRoom suffices for most pages. What follows
// doubles with each reservation, from nextRoom to maxRoom.
const (
	firstRoom = 256 << 10
	nextRoom  = 1 << 20
	maxRoom   = 64 << 20
)

// room reserves disk space for a body, before it is received.
type room struct {
	space   Space // nil = there is always space
	left    int64 // how much of the reservation is left
	next    int64 // how much is reserved next
	refused error
}

// begin reserves the announced length of a body, or firstRoom if it is not known.
func (r *room) begin(q Request, length int64) error {
	if q.Space == nil {
		return nil
	}
	if length < 0 {
		length = firstRoom
	}
	*r = room{space: q.Space, left: min(length, q.Limits.MaxBody), next: nextRoom}
	return q.Space.Reserve(r.left)
}

// take takes n bytes of the reservation, and makes it larger if they do not fit.
func (r *room) take(n int) error {
	if r.left -= int64(n); r.left >= 0 || r.space == nil {
		return nil
	}
	more := max(r.next, -r.left)
	if r.refused = r.space.Reserve(more); r.refused != nil {
		return r.refused
	}
	r.left += more
	r.next = min(2*r.next, maxRoom)
	return nil
}
