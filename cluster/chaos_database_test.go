package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// failingDatabase is a database that crashes, with a standby. It is safe for concurrent use.
type failingDatabase struct {
	mu      sync.Mutex       // guards the fields below; held while the database crashes
	first   *postgres.Server // can be written
	standBy *postgres.Server // confirms each commit
}

// url returns the connection string of the database that can be written.
func (db *failingDatabase) url() string {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.first.URL(db.first.Address())
}

// crash crashes the database, and starts it again after a while.
func (db *failingDatabase) crash(f *processes, away time.Duration) {
	db.mu.Lock()
	defer db.mu.Unlock()
	f.count("database crashed", "crash the database, and wait %s", away)
	db.first.Crash()
	time.Sleep(away)
	db.first.Start()
}

// failOver crashes the database for good, promotes its standby after a while, and starts a standby of that.
func (db *failingDatabase) failOver(f *processes, away time.Duration) {
	db.mu.Lock()
	defer db.mu.Unlock()
	f.count("database failed over", "crash the database for good, and promote its standby after %s", away)
	db.first.Crash()
	time.Sleep(away)
	db.standBy.Promote()
	db.first = db.standBy
	address := db.first.Address()
	for _, p := range f.proxies {
		p.to.Store(&address)
	}
	db.standBy = db.first.StandBy()
}

// losePower kills a node, if possible within a transaction, while nothing of it gets to the database any more, not even
// that its connections have ended.
func (f *processes) losePower(name string, d time.Duration, db *failingDatabase) {
	p, within := f.proxies[name], false
	ctx, cancel := context.WithTimeout(f.Context(), 5*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, db.url())
	if err == nil {
		defer func() { _ = c.Close(context.Background()) }()
	}
	p.gate.Lock()
	p.back.Lock()
	for err == nil && !within {
		p.back.Unlock()
		p.gate.Unlock()
		time.Sleep(time.Millisecond)
		p.gate.Lock()
		p.back.Lock()
		const text = `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE application_name = 'arcrawl ' || $1 AND state = 'idle in transaction')`
		err = c.QueryRow(ctx, text, name).Scan(&within)
	}
	kind := "without power"
	if within {
		kind = "without power within a transaction"
	}
	f.count(kind, "node %s is %s, and starts after %s", name, kind, d)
	dead := f.daemon(name)
	_ = dead.Cmd.Process.Kill() // it may have ended, because it was fenced
	<-dead.Gone
	time.Sleep(d)
	p.back.Unlock()
	p.gate.Unlock()
	f.start(name)
}
