package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
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

// minToken is the minimum length of a token, in characters. A shorter one can be guessed.
const minToken = 16

// AdminToken returns the token in a file. If the file does not exist, it makes one with a random token.
func AdminToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		token := rand.Text()
		return token, os.WriteFile(path, []byte(token+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken {
		return "", fmt.Errorf("the token in %s has %d characters, fewer than %d: remove the file, and the daemon makes a new one at its next start",
			path, len(token), minToken)
	}
	return token, nil
}
