package cluster

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/uri"
)

// benchHosts is the number of hosts of the crawl, and benchTogether of visits in a shipment.
const (
	benchHosts    = 1_000
	benchTogether = 100
)

// benchURIs returns the number of URIs of the crawl: ARCRAWL_URIS, or 100,000.
func benchURIs(b testing.TB) int {
	text := os.Getenv("ARCRAWL_URIS")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkRevisit measures what a revisit costs the node and the database: the frontier alone, and with shipments.
func BenchmarkRevisit(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchmarkRevisit(b, nil) })
	b.Run("shipped", func(b *testing.B) {
		db := postgres.New(b)
		db.Sync()
		benchmarkRevisit(b, db)
	})
}

// BenchmarkLoad measures what a URI costs the node and the database when another node takes the crawl over.
func BenchmarkLoad(b *testing.B) {
	db := postgres.New(b)
	db.Sync()
	p := &place{TB: b, db: db, name: "a", state: b.TempDir()}
	benchStore(p, time.Now())
	p.run(func(*frontier.Frontier) {})
	var node, server time.Duration
	b.ResetTimer()
	for range b.N {
		other := &place{TB: b, db: db, name: "b", state: b.TempDir()}
		n, err := Join(b.Context(), other.options(), func(error) {})
		p.must(err)
		before, used := ownCPU(b), db.CPU()
		p.must(n.Prepare(b.Context(), frontier.Options{Dir: other.state, Now: time.Now(), BulkLoad: true}))
		node, server = node+ownCPU(b)-before, server+db.CPU()-used
		p.must(n.shared.Leave(b.Context(), n.epoch, true))
		n.shared.Close()
	}
	uris := float64(b.N * benchURIs(b))
	b.ReportMetric(float64(node.Nanoseconds())/1e3/uris, "node-µs/URI")
	b.ReportMetric(float64(server.Nanoseconds())/1e3/uris, "db-µs/URI")
}

// benchStore makes a store with many URIs.
func benchStore(p *place, now time.Time) {
	f, err := frontier.Open(frontier.Options{Dir: p.state, Now: now})
	p.must(err)
	var entries []frontier.Entry
	for i := range benchURIs(p) {
		e := frontier.Entry{}
		e.URI = uri.FromCanonical(fmt.Sprintf("http://host-%d.example/a/usual/path/of/a/page-%d.html", i%benchHosts, i))
		e.Due = now.Add(time.Duration(i) * time.Millisecond)
		e.Visits, e.Versions, e.Location = 7, 2, "http://host.example/a/place/of/usual/length"
		entries = append(entries, e)
	}
	_, err = f.Import(now, false, entries...)
	p.must(err)
	p.must(f.Close())
}

func benchmarkRevisit(b *testing.B, db *postgres.Server) {
	p := &place{TB: b, db: db, name: "a", state: b.TempDir()}
	now := time.Now()
	benchStore(p, now)
	var f *frontier.Frontier
	var err error
	ship, report := func() {}, func() {}
	if db == nil {
		f, err = frontier.Open(frontier.Options{Dir: p.state, Now: now})
		p.must(err)
		defer f.Close()
	} else {
		var n *ownedShard
		var stop func()
		n, f, stop = p.open()
		defer func() { stop(); p.must(f.Close()) }()
		ship = func() {
			_, err := n.shipOnce(b.Context(), func() error { return nil })
			p.must(err)
		}
		n.lease.until = now.Add(24 * time.Hour) // nobody beats here
		ship()
		report = measureDatabase(b, db)
	}
	uris := benchURIs(b)
	visit := func(i int) {
		at := now.Add(time.Hour * time.Duration(1+i/uris)).Add(time.Duration(i) * 10 * time.Millisecond)
		c, ok, err := f.Claim(at)
		if err != nil || !ok {
			b.Fatalf("nothing to claim after %d visits: %v", i, err)
		}
		r := c.Record
		r.Visits++
		r.LastVisit, r.Due = at, at.Add(30*time.Minute)
		_, err = f.Settle(c, frontier.Settlement{Record: r, Finished: at})
		p.must(err)
	}
	b.ResetTimer()
	before := ownCPU(b)
	for i := range b.N {
		if visit(i); i%benchTogether == benchTogether-1 {
			ship()
		}
	}
	ship()
	b.ReportMetric(float64((ownCPU(b)-before).Microseconds())/float64(b.N), "node-µs/visit")
	report()
}

// cpu returns the processor time of this process.
func ownCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measureDatabase begins to measure the database. The returned function reports what was measured since then.
func measureDatabase(b *testing.B, db *postgres.Server) (report func()) {
	ask := func(sql string) (n float64) {
		c, err := pgx.Connect(b.Context(), db.URL(db.Address()))
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = c.Close(b.Context()) }()
		if err := c.QueryRow(b.Context(), sql).Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	const wal, size = `SELECT (pg_current_wal_lsn() - '0/0')::float8`, `SELECT pg_total_relation_size('arcrawl.row')::float8`
	used, log, bytes := db.CPU(), ask(wal), ask(size)
	return func() {
		n := float64(b.N)
		b.ReportMetric(float64((db.CPU()-used).Microseconds())/n, "db-µs/visit")
		b.ReportMetric((ask(wal)-log)/n, "WAL-B/visit")
		b.ReportMetric(100*(ask(size)-bytes)/bytes, "growth-%")
		b.ReportMetric(bytes/float64(benchURIs(b)), "B/URI")
		b.ReportMetric(ask(`SELECT n_tup_hot_upd / greatest(n_tup_upd, 1)::float8 FROM pg_stat_user_tables
			WHERE relname = 'row'`), "HOT")
	}
}
