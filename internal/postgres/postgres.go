// Package postgres starts PostgreSQL servers for tests: each has a temporary folder and a free port of loopback.
//
// It needs Debian's package postgresql. Without it the tests are skipped, or fail if the environment has
// ARCRAWL_REQUIRE_FOREIGN=1. initdb refuses root, so root runs the server as the user nobody. Only test code imports
// this package.
package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is a PostgreSQL server of a test.
type Server struct {
	t    testing.TB
	bin  string
	dir  string
	port string
	name string // of the database
}

// nobody is the user and group that run the server for root.
const nobody = 65534

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		const text = "no PostgreSQL server is installed, so nothing is tested that shares a crawl: apt-get install postgresql"
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	slices.Sort(found)
	dir, err := os.MkdirTemp("", "arcrawl-postgres-") // not t.TempDir: nobody may not enter that
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{t: t, bin: filepath.Dir(found[len(found)-1]), dir: dir, port: freePort(t), name: "postgres"}
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	s.run("initdb", "-D", dir+"/data", "-U", "arcrawl", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	settings := fmt.Sprintf("port = %s\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"+
		"shared_buffers = 32MB\nmax_connections = 100\nfsync = off\n", s.port)
	s.set(settings)
	s.Start()
	t.Cleanup(func() { s.stop("immediate") })
	return s
}

// freePort returns a port of loopback that nobody listens at. It is below the ports that Linux chooses for connections
// and for listeners without a port of their own, so nobody else takes it while the server starts again.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(12_000 + rand.IntN(20_000))
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
	s.set("fsync = on\n")
	s.run("pg_ctl", "-D", s.dir+"/data", "reload")
}

// Address returns the address of the server, host and port.
func (s *Server) Address() string { return "127.0.0.1:" + s.port }

// URL returns the connection string of the database, as reached at an address.
func (s *Server) URL(address string) string {
	return "postgres://arcrawl@" + address + "/" + s.name + "?sslmode=disable"
}

// Database makes another database on the same server, for a test of its own.
func (s *Server) Database(t testing.TB, name string) *Server {
	t.Helper()
	other := *s
	other.t, other.name = t, name
	other.run("createdb", "-h", "127.0.0.1", "-p", s.port, "-U", "arcrawl", name)
	return &other
}

// StandBy starts a second server, which follows this one and confirms each commit. Promote makes it the first one.
func (s *Server) StandBy() *Server {
	s.t.Helper()
	dir, err := os.MkdirTemp("", "arcrawl-postgres-")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	other := &Server{t: s.t, bin: s.bin, dir: dir, port: freePort(s.t), name: s.name}
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			s.t.Fatal(err)
		}
	}
	there := []string{"-h", "127.0.0.1", "-p", s.port, "-U", "arcrawl"}
	other.run("pg_basebackup", append(there, "-D", dir+"/data", "-R", "-X", "stream", "-c", "fast", "--no-sync")...)
	other.set("port = " + other.port + "\n")
	other.Start()
	s.t.Cleanup(func() { other.stop("immediate") })
	s.set("synchronous_standby_names = '*'\n")
	s.run("pg_ctl", "-D", s.dir+"/data", "reload")
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
	s.run("pg_ctl", "-D", s.dir+"/data", "-w", "-t", "300", "promote")
}

// Start starts the server, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	s.run("pg_ctl", "-D", s.dir+"/data", "-l", s.dir+"/log", "-w", "-t", "300", "start")
}

// Crash stops the server as a power failure would.
func (s *Server) Crash() {
	s.t.Helper()
	s.stop("immediate")
}

func (s *Server) stop(mode string) {
	_ = s.command("pg_ctl", "-D", s.dir+"/data", "-m", mode, "-w", "-t", "300", "stop").Run() // it may have been stopped
}

// run runs a program of PostgreSQL.
func (s *Server) run(name string, args ...string) {
	s.t.Helper()
	if err := s.command(name, args...).Run(); err != nil {
		log, _ := os.ReadFile(s.dir + "/log")
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, log)
	}
}

// command returns a program of PostgreSQL. Its output goes nowhere, because the server would inherit it and hold it
// open.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // of a busy machine
	c := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
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
