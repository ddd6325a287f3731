package warc

// Fit returns how well a record fits as the original of a revisit that names its URI and second, and no record id.
// Several captures may fit. It is better if the record is full: a response or a resource. comparable reports whether
// both records have a payload digest of one algorithm.
func Fit(full, comparable, samePayload, sameDate bool) (n int) {
	if full {
		n += 8
	}
	if comparable && samePayload {
		n += 4
	} else if comparable {
		n -= 8
	}
	if sameDate {
		n++
	}
	return n
}
