// This file listens on the unix socket of a daemon.

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

// errInUse says that a socket belongs to a living process.
var errInUse = errors.New("another process answers there")

// listenSocket listens on a unix socket that only the user and the group of the daemon can open. It replaces a socket
// that a crash has left, but not one that answers. The caller removes the socket with Remove.
func listenSocket(path string) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if conn, err := api.DialSocket(ctx, path); err == nil {
		return nil, errors.Join(errInUse, conn.Close())
	}
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	l, err := bind(path)
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would remove the short path
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// errNotASocket says that a path that is meant for a socket has something else.
var errNotASocket = errors.New("it exists and is not a socket, so it is not replaced")

// removeSocket removes a socket that nobody listens on any more. It removes nothing else, such as a file whose path was
// given as admin.socket by mistake.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errNotASocket
	}
	return os.Remove(path)
}

// bind binds a socket to a path. A path that is too long for the address of a socket is shortened through its
// open folder.
func bind(path string) (*net.UnixListener, error) {
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
