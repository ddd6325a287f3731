package space

// Domains returns the number of domains in memory.
func (l *Ledger) Domains() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.domains)
}
