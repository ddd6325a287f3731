package shared

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The limits of a connection to the database. All are shorter than the lease of a node, so that the locks of a node
// that is gone, or stands still, are free before another node fences it.
const (
	// idleTime is how long a node may leave a transaction alone before the server ends it.
	idleTime = 8 * time.Second
	// statementTime is the maximum duration of a statement. The server also counts the time in which it waits for the
	// rest of one.
	statementTime = 8 * time.Second
	// silentTime is how long the other side may confirm nothing, before a connection is broken.
	silentTime = 6 * time.Second
	// probeAfter is how long a connection is idle before each side makes sure that the other one is there.
	probeAfter = 3 * time.Second
	// connectTime is the maximum duration of an attempt to connect. The pools have one connection each for beats and for
	// questions, and an attempt that waits for a server that is away would hold it.
	connectTime = 3 * time.Second
)

// connections returns how connections to the database are made, all of this package. A node has a name; a command has
// none.
func connections(database, node string) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, fmt.Errorf("read cluster.database: %w", err)
	}
	s := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	for name, value := range map[string]string{
		"application_name":                    sessionsOf(node),
		"idle_in_transaction_session_timeout": milliseconds(idleTime),
		"statement_timeout":                   milliseconds(statementTime),
		"tcp_user_timeout":                    milliseconds(silentTime),
		"tcp_keepalives_idle":                 s(probeAfter),
		"tcp_keepalives_interval":             "1",
		"tcp_keepalives_count":                s(silentTime - probeAfter),
	} {
		c.ConnConfig.RuntimeParams[name] = value
	}
	d := net.Dialer{
		Timeout: connectTime,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: probeAfter, Interval: time.Second, Count: int((silentTime - probeAfter) / time.Second),
		},
		Control: func(network, _ string, raw syscall.RawConn) error {
			if !strings.HasPrefix(network, "tcp") {
				return nil
			}
			return GiveUpAfter(raw, silentTime)
		},
	}
	c.ConnConfig.DialFunc, c.ConnConfig.ConnectTimeout = d.DialContext, connectTime
	// A replica does not know of the others.
	c.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	return c, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// sessionsOf returns the name of the sessions of a node in the database.
func sessionsOf(node string) string { return strings.TrimSpace("arcrawl " + node) }

// newPool returns connections to the database, which are made when they are needed. It does not wait for the database.
// generic makes the database plan each statement once, and not for each question: to look for a payload costs a third.
func newPool(ctx context.Context, database, node string, connected int32, generic bool) (*pgxpool.Pool, error) {
	c, err := connections(database, node)
	if err != nil {
		return nil, err
	}
	c.MaxConns = connected
	if generic {
		c.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	return pool, about(err, "connect to the database of the cluster")
}

// connect connects to the database without being a node.
func connect(ctx context.Context, database string) (*pgx.Conn, error) {
	c, err := connections(database, "")
	if err != nil {
		return nil, err
	}
	one, err := pgx.ConnectConfig(ctx, c.ConnConfig)
	return one, about(err, "connect to the database of the cluster")
}

// visit calls do with a connection to the database of a crawl, without being a node.
func visit(ctx context.Context, database string, do func(*pgx.Conn) error) (err error) {
	c, err := connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	if _, err := nameOf(ctx, c); err != nil {
		return err
	}
	return do(c)
}

// endSessions ends the transactions of a node that stands still and holds locks, so that another node can fence it or
// a new process of the node can start.
func (s *Store) endSessions(ctx context.Context, node string) error {
	_, err := s.looks.Exec(ctx, `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
		WHERE a.application_name = $1 AND a.datname = current_database() AND EXISTS (
			SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.database = a.datid
			AND l.relation IN ('arcrawl.node'::regclass, 'arcrawl.pulse'::regclass))`,
		sessionsOf(node))
	return about(err, "end the sessions of node %s, which stands still", node)
}
