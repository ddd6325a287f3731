package robots

// WhileParsing calls f while the maximum number of files is being parsed.
func (c *Cache) WhileParsing(f func()) {
	for range cap(c.parsing) {
		c.parsing <- struct{}{}
	}
	f()
	for range cap(c.parsing) {
		<-c.parsing
	}
}
