package access

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
)

// Open returns who is served on the network address of a configuration. It reads the files of tokens and users. If
// there is no file of tokens it creates one.
func Open(c config.Reach, now func() time.Time, log zerolog.Logger) (Options, error) {
	file, err := OpenFile(c.TokenFile)
	if err != nil {
		return Options{}, err
	}
	role := None
	if c.UserRole != config.NoRole {
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
		Tokens:      lastGood(log, c.TokenFile, file.Tokens),
		Users:       lastGood(log, c.UserFile, OpenUsers(c.UserFile).Users),
		SetPassword: func(name, password string) error { return SetPassword(c.UserFile, name, password) },
		Proxy:       proxy, SignIns: NewSignIns(now),
		Remote: c.Remote != config.Off, Names: c.Names, TLS: c.Remote == config.RemoteTLS,
	}, nil
}

// lastGood returns a function that returns what a file has. It logs each fault of a changed file once.
func lastGood[T any](log zerolog.Logger, path string, read func() ([]T, error)) func() []T {
	var mu sync.Mutex
	last := ""
	return func() []T {
		all, err := read()
		text := ""
		if err != nil {
			text = err.Error()
		}
		mu.Lock()
		defer mu.Unlock()
		if text != "" && text != last {
			log.Error().Err(err).Str("file", path).
				Msg("could not read a changed file: who was known before is served as before")
		}
		last = text
		return all
	}
}
