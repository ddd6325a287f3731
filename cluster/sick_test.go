package cluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// patient is the database of a node, as its administrator reaches it.
type patient struct {
	testing.TB
	conn *pgx.Conn
	disk string // a small file system; "" = none
}

// newPatient returns a connection to a database, which ends with the test.
func newPatient(t testing.TB, db *postgres.Server) *patient {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL(db.Address()))
	must(t, err)
	t.Cleanup(func() { must(t, conn.Close(context.Background())) })
	return &patient{TB: t, conn: conn}
}

func (p *patient) do(all ...string) {
	p.Helper()
	for _, text := range all {
		if _, err := p.conn.Exec(p.Context(), text); err != nil {
			p.Fatalf("%s: %v", text, err)
		}
	}
}

// illness is a trouble of a database that passes.
type illness struct {
	begin, end func(*patient)
	says       string // in the log of the node
}

// illnesses returns troubles that administrators meet. A node must lose neither its parts nor a change.
func illnesses() map[string]illness {
	return map[string]illness{
		"it can only be read": {
			begin: func(p *patient) {
				p.do(`SET default_transaction_read_only = off`, `ALTER SYSTEM SET default_transaction_read_only = on`,
					`SELECT pg_reload_conf()`)
			},
			end:  func(p *patient) { p.do(`ALTER SYSTEM RESET ALL`, `SELECT pg_reload_conf()`) },
			says: "read-only transaction",
		},
		"its statements take too long": {
			begin: func(p *patient) { p.do(`BEGIN`, `LOCK TABLE arcrawl.row IN SHARE MODE`) },
			end:   func(p *patient) { p.do(`COMMIT`) },
			says:  "statement timeout",
		},
		"its disk is full": {
			begin: func(p *patient) {
				fill(p.TB, p.disk)
				p.do(`SELECT 1`)
			},
			end:  func(p *patient) { must(p.TB, os.Remove(filepath.Join(p.disk, "fill"))) },
			says: "No space left on device",
		},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill writes a file until a file system is full.
func fill(t testing.TB, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "fill"))
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	must(t, f.Close())
}

// onSmallDisk moves the rows to a small file system.
func (p *patient) onSmallDisk() {
	p.Helper()
	p.disk = smalldisk.Mount(p.TB, "16m")
	space := filepath.Join(p.disk, "space")
	must(p.TB, os.Mkdir(space, 0o700))
	if os.Getuid() == 0 {
		must(p.TB, os.Chown(space, 65534, 65534)) // the user of the server
		for dir := p.disk; dir != os.TempDir(); dir = filepath.Dir(dir) {
			must(p.TB, os.Chmod(dir, 0o755))
		}
	}
	p.do(`CREATE TABLESPACE small LOCATION '`+space+`'`, `ALTER TABLE arcrawl.row SET TABLESPACE small`)
}

// TestASickDatabaseHoldsTheCrawl lets the database of a node fall ill for some seconds while the store changes. Nothing
// is claimed after five seconds, the node keeps its parts, and it continues by itself. The copy then equals the store.
func TestASickDatabaseHoldsTheCrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	for name, ill := range illnesses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := postgres.New(t)
			db.SkipForeign()
			a := newFixture(t, db, "a")
			s := a.join()
			s.has(shared.Parts, shared.Parts)
			p := newPatient(t, db)
			if name == "its disk is full" {
				p.onSmallDisk()
			}
			a.crawl(s.f, 0, 50)
			s.eventually("all is shipped", func() bool { return s.n.mirror.waiting() == 0 })

			ill.begin(p)
			a.crawl(s.f, 50, 2_000)
			s.eventually("claims stop", func() bool { return s.n.MayClaim() != nil })
			if strings.Contains(s.n.MayClaim().Error(), "no longer") {
				t.Errorf("the node has lost its parts: %v", s.n.MayClaim())
			}
			s.eventually("the log says why", func() bool { return strings.Contains(s.log.String(), ill.says) })
			ill.end(p)
			s.eventually("claims begin again", func() bool { return s.n.MayClaim() == nil && s.n.mirror.waiting() == 0 })
			s.equalsCopy()
			s.leave()
			if log := s.log.String(); !strings.Contains(log, "again") {
				t.Errorf("the log does not mention that changes are shipped again:\n%s", log)
			}
		})
	}
}

// TestShipmentsSurviveLostConnections ends the connections of a node again and again while it ships, some of them while
// they commit. The copy equals the store in the end.
func TestShipmentsSurviveLostConnections(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a := newFixture(t, db, "a")
	s := a.join()
	s.has(shared.Parts, shared.Parts)
	p := newPatient(t, db)
	for i := range 20 {
		a.crawl(s.f, 50*i, 50*(i+1))
		p.do(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'arcrawl a'
			AND datname = current_database()`)
		time.Sleep(time.Duration(3*i) * time.Millisecond)
	}
	s.eventually("all is shipped", func() bool { return s.n.MayClaim() == nil && s.n.mirror.waiting() == 0 })
	s.equalsCopy()
	s.leave()
	if log := s.log.String(); !strings.Contains(log, "could not ship changes") {
		t.Errorf("no shipment has failed:\n%s", log)
	}
}

// equalsCopy compares the store with its copy in the database, key by key.
func (c *crawling) equalsCopy() {
	c.Helper()
	want, got := c.rows(c.f), map[string][]byte{}
	c.must(c.n.shared.Each(c.Context(), allParts(), func(_ int16, k, v []byte) error {
		if k[0] != 'm' {
			got[string(k)] = bytes.Clone(v)
		}
		return nil
	}))
	c.same("that is the copy", got, want)
}
