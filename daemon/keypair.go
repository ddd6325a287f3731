// This file serves over TLS with a certificate that is renewed while the daemon runs.

package daemon

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// keyPair is a certificate and its key, in files that are renewed while the daemon runs.
type keyPair struct {
	cert, key string // paths

	mu       sync.Mutex // guards the fields below
	modified time.Time  // of the certificate
	pair     *tls.Certificate
}

// newKeyPair reads a certificate and its key.
func newKeyPair(cert, key string) (*keyPair, error) {
	p := &keyPair{cert: cert, key: key}
	return p, p.read()
}

// read reads the files if the certificate has changed. If they cannot be used, the last good pair stays.
func (p *keyPair) read() error {
	info, err := os.Stat(p.cert)
	if err != nil || info.ModTime().Equal(p.modified) {
		return err
	}
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return err
	}
	p.pair, p.modified = &pair, info.ModTime()
	return nil
}

// ServerConfig returns the settings of a server with the certificate that is in the files when a client connects.
func (p *keyPair) ServerConfig() *tls.Config {
	current := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.read() // files that are being written are read with the next connection
		return p.pair, nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: current, NextProtos: []string{"http/1.1"}}
}
