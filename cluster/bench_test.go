package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
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

// BenchmarkRevisit measures what a revisit costs the node and the database: the frontier alone, with shipments of hosts
// of all parts, and of hosts that are all in one part.
func BenchmarkRevisit(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchmarkRevisit(b, nil, nil) })
	for name, group := range map[string]func(uri.Host) string{
		"shipped": nil, "shipped-in-one-part": func(uri.Host) string { return "one" },
	} {
		b.Run(name, func(b *testing.B) {
			db := postgres.New(b)
			db.Sync()
			benchmarkRevisit(b, db, group)
		})
	}
}

// benchPayloads is the number of payloads that were archived for each URI, as in a crawl of some months.
const benchPayloads = 15

// BenchmarkLoad measures what a URI and its payloads cost the node and the database when another node takes the crawl
// over.
func BenchmarkLoad(b *testing.B) {
	db := postgres.New(b)
	db.Sync()
	p := &fixture{TB: b, db: db, name: "a", state: b.TempDir()}
	benchStore(p, time.Now())
	p.alone(time.Now(), func(f *frontier.Frontier) {
		index, err := dedup.Open(f.DB(), dedup.Options{})
		p.must(err)
		for from := range benchURIs(b) * benchPayloads / 500 {
			p.must(f.DB().Update(func(txn *badger.Txn) error {
				for n := range 500 {
					file := fmt.Sprintf("arcrawl-20261121090000000-%05d-c1.warc.gz", from/1000)
					key, o := payloadOf(fmt.Sprint(from, " ", n), file)
					if err := index.Putting(key, o, dedup.Digest)(txn); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	})
	_, _, leave := p.whole()
	leave()
	var node, server, took time.Duration
	b.ResetTimer()
	for range b.N {
		before, used, start := ownCPU(b), db.CPU(), time.Now()
		other := &fixture{TB: b, db: db, name: "b", state: b.TempDir()}
		c := other.join()
		c.eventually("it has all parts", func() bool { return len(c.n.parts.in(here)) == shared.Parts })
		node, server, took = node+ownCPU(b)-before, server+db.CPU()-used, took+time.Since(start)-youngFor
		c.leave()
	}
	uris := float64(b.N * benchURIs(b))
	b.ReportMetric(float64(node.Nanoseconds())/1e3/uris, "node-µs/URI")
	b.ReportMetric(float64(server.Nanoseconds())/1e3/uris, "db-µs/URI")
	b.ReportMetric(took.Seconds()/float64(b.N), "s/takeover")
	b.ReportMetric(float64(p.ask(`SELECT count(*) FROM arcrawl.row`)), "rows")
	b.ReportMetric(float64(p.ask(`SELECT sum(length(k) + length(v)) FROM arcrawl.row`)), "B")
}

// BenchmarkPayload measures what a payload costs the node and the database: to look for one that is not there, alone
// and with others, and to ship one.
func BenchmarkPayload(b *testing.B) {
	db := postgres.New(b)
	db.Sync()
	p := &fixture{TB: b, db: db, name: "a", state: b.TempDir()}
	n, err := openNode(b.Context(), p.options(), func(err error) { b.Error(err) })
	p.must(err)
	defer n.Close()
	fillPayloads(p)
	measure := func(name string, together int, do func(rows []shared.Row) error) {
		b.Run(name, func(b *testing.B) {
			before, used, start := ownCPU(b), db.CPU(), time.Now()
			var rows []shared.Row
			for i := range b.N {
				sum := sha256.Sum256(fmt.Append(nil, name, i, start))
				rows = append(rows, shared.Row{Key: append([]byte("d"), sum[:30]...), Value: make([]byte, 170), Of: shared.Payload})
				if len(rows) == together || i == b.N-1 {
					slices.SortFunc(rows, func(a, b shared.Row) int { return bytes.Compare(a.Key, b.Key) })
					p.must(do(rows))
					rows = rows[:0]
				}
			}
			per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(b.N) }
			b.ReportMetric(per(ownCPU(b)-before), "node-µs/payload")
			b.ReportMetric(per(db.CPU()-used), "db-µs/payload")
			b.ReportMetric(per(time.Since(start))*float64(together), "µs/question")
		})
	}
	look := func(rows []shared.Row) error {
		var keys [][]byte
		for _, r := range rows {
			keys = append(keys, r.Key)
		}
		_, err := n.payloads.find(keys...)
		return err
	}
	measure("look", 1, look)
	measure("look-20", 20, look)
	measure("put-100", 100, func(rows []shared.Row) error { return n.shared.Ship(b.Context(), shared.All(rows...)) })
}

// fillPayloads writes as many payloads as the crawl has URIs to the database, in portions. With the index at the end it
// is as small as it can be. A hundred million need ten minutes and 40 GB.
func fillPayloads(p *fixture) {
	c, err := pgx.Connect(p.Context(), p.db.URL(p.db.Address()))
	p.must(err)
	defer func() { _ = c.Close(p.Context()) }()
	do := func(text string, args ...any) {
		_, err := c.Exec(p.Context(), text, args...)
		p.must(err)
	}
	do(`SET maintenance_work_mem = '1GB'`)
	do(`ALTER TABLE arcrawl.payload DROP CONSTRAINT payload_pkey`)
	all, portion := benchURIs(p), 1_000_000
	for from := 0; from < all; from += portion {
		do(`INSERT INTO arcrawl.payload SELECT '\x64'::bytea || substr(sha256(n::text::bytea), 1, 30),
			substr(repeat(md5(n::text), 6), 1, 170)::bytea FROM generate_series($1::int, $2::int) AS n`,
			from, min(from+portion, all)-1)
	}
	do(`ALTER TABLE arcrawl.payload ADD PRIMARY KEY (k)`)
	do(`VACUUM (FREEZE, ANALYZE) arcrawl.payload`) // not while it is measured
	do(`CHECKPOINT`)
	p.Logf("%d payloads, %d MB, of which %d MB are the index", all,
		p.ask(`SELECT pg_total_relation_size('arcrawl.payload') >> 20`), p.ask(`SELECT pg_indexes_size('arcrawl.payload') >> 20`))
}

// benchStore makes a store with many URIs.
func benchStore(p *fixture, now time.Time) {
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

func benchmarkRevisit(b *testing.B, db *postgres.Server, group func(uri.Host) string) {
	p := &fixture{TB: b, db: db, name: "a", state: b.TempDir(), group: group}
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
		var n *thisNode
		var leave func()
		n, f, leave = p.whole()
		defer leave()
		ship = func() {
			_, err := n.shipOnce(b.Context())
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

// whole opens the store of a node that takes the whole crawl. Nobody beats, and nothing is shipped in the background.
func (p *fixture) whole() (n *thisNode, f *frontier.Frontier, leave func()) {
	n, err := openNode(p.Context(), p.options(), func(err error) { p.Error(err) })
	p.must(err)
	f, err = frontier.Open(frontier.Options{Dir: p.state, Now: time.Now(), Elsewhere: n.Elsewhere()})
	p.must(err)
	var stop func()
	p.must(n.Opened(f, func(run func(context.Context)) { stop = inBackground(run) }))
	p.must(n.take(p.Context(), (<-n.seen).States, allParts()))
	return n, f, func() {
		closed := n.Closing(f)
		stop()
		p.must(closed(f.Close()))
		n.Close()
	}
}

// ownCPU returns the processor time of this process.
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
	const wal, size = `SELECT (pg_current_wal_lsn() - '0/0')::float8`,
		`SELECT pg_total_relation_size('arcrawl.row')::float8`
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
