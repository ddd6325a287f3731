package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// errSocketInUse says that a socket belongs to a living process.
var errSocketInUse = errors.New("another process answers there")

// listenSocket listens on a unix socket that only the user and the group of the daemon can open. It replaces a socket
// that a crash has left, but not one that answers. The caller removes the socket with removeSocket.
func listenSocket(path string) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if conn, err := api.DialSocket(ctx, path); err == nil {
		return nil, errors.Join(errSocketInUse, conn.Close())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := bindSocket(path)
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would remove the short path
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeSocket removes a socket that nobody listens on any more.
func removeSocket(path string) { _ = os.Remove(path) }

// bindSocket binds a socket to a path. A path that is too long for the address of a socket is shortened through its
// open folder.
func bindSocket(path string) (*net.UnixListener, error) {
	if len(path) <= api.MaxSocketPath {
		return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return net.ListenUnix("unix", &net.UnixAddr{Name: api.ShortPath(folder, filepath.Base(path)), Net: "unix"})
}
