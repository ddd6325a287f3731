package frontier

// hostHeap is a heap of hosts; the one that is, or will be, ready first is at the top.
type hostHeap []*host

func (q hostHeap) Len() int { return len(q) }

func (q hostHeap) Less(i, j int) bool { return q[i].before(q[j]) }

// before reports whether a host is ready before another one.
func (h *host) before(other *host) bool {
	if h.readyAt != other.readyAt {
		return h.readyAt < other.readyAt
	}
	if h.ownReadyAt != other.ownReadyAt {
		return h.ownReadyAt < other.ownReadyAt // within a group, the one that has waited longest
	}
	return h.id < other.id
}

func (q hostHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i, j
}

func (q *hostHeap) Push(x any) {
	h := x.(*host)
	h.pos = len(*q)
	*q = append(*q, h)
}

func (q *hostHeap) Pop() any {
	old := *q
	h := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return h
}
