package shared

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// stops are the moments in which a node loses its power within a transaction, with what it has sent of the next
// statement. Of a statement that is described and not executed, the server takes the session for active.
var stops = []struct{ name, sent string }{
	{"between two statements", ""},
	{"within a message", "Q\x00\x00\x01\x00SELECT"},
	{"between the messages of a statement", "P\x00\x00\x00\x10\x00SELECT 1\x00\x00\x00"},
}

// stopInTransaction begins a shipment of a node, and sends no more of it than the beginning of a statement. Some
// limits of the server do not count.
func stopInTransaction(t *testing.T, s *Store, sent string, unbound ...string) pgx.Tx {
	t.Helper()
	tx, err := s.pool.Begin(t.Context())
	must(t, err)
	for _, limit := range unbound {
		_, err := tx.Exec(t.Context(), `SET LOCAL `+limit+` = 0`)
		must(t, err)
	}
	must(t, s.lock(t.Context(), tx))
	t.Cleanup(func() { _, _ = tx.Conn().PgConn().Conn().Close(), tx.Rollback(context.Background()) })
	_, err = tx.Conn().PgConn().Conn().Write([]byte(sent))
	must(t, err)
	return tx
}

// aFenceEndsASessionInItsWay freezes a node within a transaction, also within a statement. Another node fences it, and
// a new process of the node starts, although the server would never end the session by itself.
func aFenceEndsASessionInItsWay(t *testing.T, db *postgres.Server) {
	unbound := []string{"idle_in_transaction_session_timeout", "statement_timeout"}
	for _, stop := range stops {
		ctx, end := context.WithTimeout(t.Context(), 30*time.Second)
		a, b := owner(t, db, "a"), open(t, db, "b")
		onlyPostgres(t, a)
		must(t, a.Complete(ctx))
		before := beatOf(t, b, "a")
		stopInTransaction(t, a, stop.sent, unbound...)
		if done, err := b.Fence(ctx, "a", before-1); done || err != nil {
			t.Errorf("%s: a node that has beaten was fenced: %t, %v", stop.name, done, err)
		}
		if _, err := a.Beat(ctx); err != nil {
			t.Errorf("%s: a beat of a node that has beaten: %v", stop.name, err)
		}
		if done, err := b.Fence(ctx, "a", before+1); !done || err != nil {
			t.Errorf("%s: the node was not fenced: %t, %v", stop.name, done, err)
		}
		end()

		take(t, b, every())
		stopInTransaction(t, b, stop.sent, unbound...)
		ctx, end = context.WithTimeout(t.Context(), 30*time.Second)
		next, err := Open(ctx, db.URL(db.Address()), "b")
		end()
		if err != nil {
			t.Fatalf("%s: a new process of the node: %v", stop.name, err)
		}
		take(t, next, every())
		must(t, next.Leave(t.Context(), every(), true))
		next.Close()
	}
}

// inNamespace is set in the process of a test that has a network of its own.
const inNamespace = "ARCRAWL_TEST_NAMESPACE"

// ownNetwork runs a test once more, in a process with a network of its own, and reports whether this is that process.
// Only root may do that.
func ownNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespace) != "" {
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		return true
	}
	for _, name := range []string{"ip", "iptables"} {
		if _, err := exec.LookPath(name); err != nil || os.Getuid() != 0 {
			t.Skip("drops packets, which needs root, iproute2 and iptables")
		}
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), inNamespace+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := child.CombinedOutput()
	if err != nil || strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// dropAll drops all packets of a connection from now on, as if the machine of one side had lost its power.
func dropAll(t *testing.T, c net.Conn) {
	t.Helper()
	port := strconv.Itoa(c.LocalAddr().(*net.TCPAddr).Port)
	for _, side := range []string{"--sport", "--dport"} {
		if out, err := exec.Command("iptables", "-A", "INPUT", "-p", "tcp", side, port, "-j", "DROP").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
}

// TestAPowerFailureWithinATransaction loses a machine between two statements and within one. The server forgets its
// session, and so its locks, within the time of a lease.
func TestAPowerFailureWithinATransaction(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	if !ownNetwork(t) {
		return
	}
	db := postgres.New(t)
	a := owner(t, db, "a")
	b := open(t, db, "b")
	for _, stop := range stops {
		tx := stopInTransaction(t, a, stop.sent)
		dropAll(t, tx.Conn().PgConn().Conn())
		start, id := time.Now(), tx.Conn().PgConn().PID()
		for n := 1; n > 0; time.Sleep(100 * time.Millisecond) {
			must(t, b.looks.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE pid = $1`, id).Scan(&n))
			if time.Since(start) > 2*idleTime {
				t.Fatalf("%s: the server keeps the session of a machine that is gone", stop.name)
			}
		}
		t.Logf("%s: the session ended after %s", stop.name, time.Since(start).Round(100*time.Millisecond))
	}
}

// TestTheKernelGivesUpWhatItHolds lets a process stand still that has written a request while its network is cut. The
// request does not leave the machine when the network is back.
func TestTheKernelGivesUpWhatItHolds(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	if !ownNetwork(t) {
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	arrived := func(limit time.Duration) int {
		c, err := net.Dial("tcp", l.Addr().String())
		must(t, err)
		defer c.Close()
		site, err := l.Accept()
		must(t, err)
		defer site.Close()
		if limit > 0 {
			raw, err := c.(*net.TCPConn).SyscallConn()
			must(t, err)
			must(t, GiveUpAfter(raw, limit))
		}
		dropAll(t, c)
		_, err = c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		must(t, err)
		time.Sleep(2 * time.Second)
		if out, err := exec.Command("iptables", "-F").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		must(t, site.SetReadDeadline(time.Now().Add(5*time.Second)))
		n, _ := site.Read(make([]byte, 100))
		return n
	}
	if n := arrived(0); n == 0 {
		t.Error("without a limit nothing arrived: the test shows nothing")
	}
	if n := arrived(time.Second); n > 0 {
		t.Errorf("%d bytes arrived after the limit", n)
	}
}
