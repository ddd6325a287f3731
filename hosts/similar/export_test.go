package similar

import "github.com/dgraph-io/badger/v4"

// InMemory is how many rows are in memory.
func (b *Book) InMemory() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rows)
}

// Reopen has the book write into another store.
func (b *Book) Reopen(db *badger.DB) { b.db = db }
