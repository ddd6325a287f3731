package access

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
)

// Open returns who is served on the network address of a configuration. It reads the files of tokens and users. If
// there is no file of tokens it creates one.
func Open(c config.Reach, now func() time.Time, log zerolog.Logger) (Options, error) {
	if _, err := OpenTokens(c.TokenFile); err != nil {
		return Options{}, err
	}
	tokens := watch(log, c.TokenFile, false, readTokens)
	tokens() // they stay in force if the file is damaged now
	role := None
	if c.UserRole != config.NoRole {
		var err error
		if role, err = ParseRole(string(c.UserRole)); err != nil {
			return Options{}, err
		}
	}
	proxy := Proxy{Header: c.UserHeader, Role: role}
	for _, text := range c.TrustedProxies {
		n, err := config.ParseProxy(text)
		if err != nil {
			return Options{}, err
		}
		proxy.Networks = append(proxy.Networks, n)
	}
	return Options{
		Tokens:      tokens,
		Users:       watch(log, c.UserFile, true, Users),
		SetPassword: func(name, password string) error { return SetPassword(c.UserFile, name, password) },
		Proxy:       proxy, SignIns: NewSignIns(now),
		Remote: c.Remote != config.Off, Names: c.Names, TLS: c.Remote == config.RemoteTLS,
	}, nil
}

// watch returns a function that returns what a file of tokens or users has. It reads a changed file again. While the
// file cannot be read, what it had stays in force; each fault is logged once, and each call reads the file again:
// arcrawl user makes the daemon the owner of a new file afterwards. mayMiss says that a missing file is an empty one.
func watch[T any](log zerolog.Logger, path string, mayMiss bool, read func(path string) ([]T, error)) func() []T {
	var mu sync.Mutex // guards the variables below
	var known []T
	var modified time.Time
	var size int64
	fault := ""
	return func() []T {
		mu.Lock()
		defer mu.Unlock()
		var now time.Time
		var length int64
		info, err := os.Stat(path)
		if err == nil {
			now, length = info.ModTime(), info.Size()
		}
		missing := mayMiss && errors.Is(err, fs.ErrNotExist)
		if missing || err == nil && (!now.Equal(modified) || length != size) {
			var all []T
			if all, err = read(path); err == nil {
				known, modified, size = all, now, length
			}
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != "" && text != fault {
			log.Error().Err(err).Str("file", path).
				Msg("could not read a changed file: who was known before is served as before")
		}
		fault = text
		return known
	}
}
