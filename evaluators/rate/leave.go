package rate

// Leave returns the kind of the URI that a memory belongs to, and what must be added to the relatives of that kind so
// that the URI does not count among them any more. Its part in their rhythm stays, and fades. The kind is zero if the
// URI has none, or if the memory cannot be read.
func (m Memory) Leave() (Kind, Relatives) {
	var e Estimator
	if len(m) == 0 || e.Open(m) != nil || e.kind == 0 {
		return 0, Relatives{}
	}
	return e.kind, e.share(-1)
}
