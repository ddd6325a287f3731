package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
)

// tickEvery is how often the window looks at the crawl.
const tickEvery = 15 * time.Second

// openWindow opens the operator's window on a crawl: its socket, its address if one is wanted, and its clock. The
// returned function shuts it.
func openWindow(cr *crawler.Crawler, rooms crawler.Rooms, log zerolog.Logger) (*admin.Window, func(), error) {
	c, began := rooms.Config.Current(), time.Now()
	notices := newNotifier(c.Admin.Webhook, log)
	w, err := admin.New(admin.Options{
		Notify:  notices.tell,
		Crawler: cr, Frontier: rooms.Frontier, Trust: rooms.Trust, Traps: rooms.Traps, Accounts: rooms.Accounts, Archive: rooms.Archive, FreeSpace: rooms.FreeSpace,
		Config: func() admin.Loaded {
			l := cr.Loading()
			if l.At.IsZero() {
				l.At = began
			}
			return admin.Loaded{Config: rooms.Config.Current(), At: l.At, Tried: l.Tried, Faults: l.Faults}
		},
		Now: time.Now, Dir: c.Storage.State, Version: programVersion(), Workers: c.Crawl.Workers, Log: log,
	})
	if err != nil {
		notices.shut()
		return nil, nil, fmt.Errorf("open the window of the operator: %w", err)
	}
	servers, err := listen(w, c.Admin, log)
	if err != nil {
		notices.shut()
		return nil, nil, err
	}
	end := make(chan struct{})
	var busy sync.WaitGroup
	for _, s := range servers {
		busy.Go(func() {
			if err := s.http.Serve(s.at); !errors.Is(err, http.ErrServerClosed) {
				log.Error().Err(err).Str("at", s.at.Addr().String()).Msg("the admin API is gone; the crawl goes on")
			}
		})
	}
	busy.Go(func() { tick(w, end, log) })
	return w, func() {
		close(end)
		for _, s := range servers {
			s.shut()
		}
		busy.Wait()
		notices.shut()
		if err := w.Close(time.Now()); err != nil {
			log.Warn().Err(err).Msg("what was counted in the last minute is lost")
		}
	}, nil
}

// tick has the window look at the crawl from time to time, until end is closed.
func tick(w *admin.Window, end <-chan struct{}, log zerolog.Logger) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-end:
			return
		case now := <-ticker.C:
			if err := w.Tick(now); err != nil {
				log.Warn().Err(err).Msg("what was counted in a minute is lost")
			}
		}
	}
}

// adminServer serves the API at one address.
type adminServer struct {
	http *http.Server
	at   net.Listener
	done func() // after it is shut; nil is nothing
}

// partingTime is how long a request in progress may take to end when the daemon stops.
const partingTime = 2 * time.Second

func (s adminServer) shut() {
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	if s.done != nil {
		s.done()
	}
}

// listen opens the socket, and the loopback address if one is wanted.
func listen(w *admin.Window, c config.Admin, log zerolog.Logger) ([]adminServer, error) {
	var servers []adminServer
	if c.Socket != "" {
		at, done, err := listenSocket(c.Socket)
		if err != nil {
			return nil, folderError{fmt.Errorf("admin.socket: open %s: %w; name another path, or set admin.socket = \"off\"", c.Socket, err)}
		}
		servers = append(servers, adminServer{newServer(w.Handler("")), at, done})
	}
	if c.Listen != "" {
		token, err := adminToken(c.TokenFile)
		var at net.Listener
		if err == nil {
			at, err = net.Listen("tcp", c.Listen)
		}
		if err != nil {
			for _, s := range servers {
				_ = s.at.Close()
			}
			return nil, folderError{fmt.Errorf("admin.listen: %w", err)}
		}
		servers = append(servers, adminServer{http: newServer(w.Handler(token)), at: at})
		log.Info().Str("at", "http://"+at.Addr().String()+"/").Str("token", c.TokenFile).Msg("the admin API asks for the token in this file")
	}
	return servers, nil
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}

// listenSocket opens a unix socket for the user and the group of the daemon. One that a crash has left is replaced, one
// that answers is not.
func listenSocket(path string) (net.Listener, func(), error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if conn, err := admin.DialSocket(ctx, path); err == nil {
		return nil, nil, errors.Join(errors.New("another process answers there"), conn.Close())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	at, err := bindSocket(path)
	if err != nil {
		return nil, nil, err
	}
	at.SetUnlinkOnClose(false) // it would go by the short path
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, nil, errors.Join(err, at.Close())
	}
	return at, func() { _ = os.Remove(path) }, nil
}

// bindSocket binds a path, also one that is too long for the address of a socket.
func bindSocket(path string) (*net.UnixListener, error) {
	if len(path) <= admin.MaxSocketPath {
		return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return net.ListenUnix("unix", &net.UnixAddr{Name: admin.ShortPath(folder, filepath.Base(path)), Net: "unix"})
}

// adminToken reads the token, and makes one where there is none.
func adminToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		token := rand.Text()
		return token, os.WriteFile(path, []byte(token+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < shortestToken {
		return "", fmt.Errorf("the token in %s has %d characters, fewer than %d: remove the file to have one made", path, len(token), shortestToken)
	}
	return token, nil
}

// shortestToken is how long a token must be that cannot be guessed by trying.
const shortestToken = 16
