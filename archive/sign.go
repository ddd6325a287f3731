package archive

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
)

const (
	// maxStamp is the maximum size of the answer of a time-stamp server, in bytes.
	maxStamp  = 256 << 10
	stampTime = time.Minute
	maxPublic = 64 << 10 // bytes of a file with a public key
)

// signEvery is how often the manifest is signed, if files were added.
const signEvery = 24 * time.Hour

// signer signs the manifest and has it stamped, as the configuration asks for.
type signer struct {
	dir, version string
	options      func() config.Fixity
	now          func() time.Time
	retries

	last *fixity.SignedHead // nil = not read yet
}

func newSigner(
	dir, version string, options func() config.Fixity, now func() time.Time, log zerolog.Logger,
) *signer {
	return &signer{dir: dir, version: version, options: options, now: now, retries: retries{
		log: log, first: checkPause, most: maxCheckPause,
		failed: "could not sign the manifest of the WARC files; trying again",
		works:  "the manifest of the WARC files is signed again",
	}}
}

// turn signs if that is due. It returns the pause until the next turn.
func (s *signer) turn(ctx context.Context) time.Duration {
	return s.after(ctx, s.step(ctx), checkEvery)
}

func (s *signer) step(ctx context.Context) error {
	o := s.options()
	if o.SignKey == "" && o.Timestamp == "" {
		return nil
	}
	head, err := fixity.Head(s.dir)
	if err != nil || head == "" {
		return err
	}
	if s.last == nil {
		last, err := fixity.LastSigned(s.dir)
		if err != nil {
			return err
		}
		s.last = &last
	}
	if s.last.Head == head || s.now().Sub(s.last.At).Abs() < signEvery { // Abs: the clock may have been set back
		return nil
	}
	var key *ecdsa.PrivateKey
	if o.SignKey != "" {
		if key, err = wacz.ReadKey(o.SignKey); err != nil {
			return fmt.Errorf("fixity.sign_key: %w", err)
		}
	}
	s.last = nil
	return fixity.Sign(s.dir, key, stamper(ctx, o.Timestamp, s.version), s.now())
}

// stamper returns a function that has a digest stamped by a server; nil if there is none.
func stamper(ctx context.Context, server, version string) func(sum [sha256.Size]byte) ([]byte, error) {
	if server == "" {
		return nil
	}
	return func(sum [sha256.Size]byte) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, stampTime)
		defer cancel()
		query, err := fixity.StampRequest(sum)
		if err != nil {
			return nil, err
		}
		header := http.Header{"Content-Type": {fixity.StampQuery}, "User-Agent": {"arcrawl/" + version}}
		status, answer, err := fetch.Post(ctx, nil, server, header, query, maxStamp)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("it answers with status %d: %.300s", status, strings.TrimSpace(string(answer)))
		}
		if err == nil {
			_, err = fixity.ReadStamp(answer, sum)
		}
		if err != nil {
			return nil, fmt.Errorf("get a time stamp from %s: %w; check fixity.timestamp", server, err)
		}
		return answer, nil
	}
}

// readStamp reads the time stamp of a package, which may have the certificates of the authority apart.
func readStamp(answer []byte, sum [sha256.Size]byte, chain []*x509.Certificate) (wacz.Stamp, error) {
	s, err := fixity.ReadStamp(answer, sum, chain...)
	return wacz.Stamp{Answer: answer, Time: s.Time, Chain: s.Certificates}, err
}

// identify reads the key with which packages are signed. If its file has the certificate of a domain too, the domain
// signs, and the server of fixity.timestamp stamps.
func (p *packing) identify(cmd *cobra.Command) error {
	key, chain, err := wacz.ReadIdentity(p.key)
	if err != nil {
		return err
	}
	if len(chain) == 0 {
		p.Key, err = wacz.ReadKey(p.key)
		return err
	}
	c, err := cli.ReadConfig(cmd.ErrOrStderr(), p.period.config)
	if err == nil && c.Fixity.Timestamp == "" {
		err = errors.New("the file has the certificate of a domain, and such a signature needs a time stamp: " +
			"set fixity.timestamp in the configuration")
	}
	if err != nil {
		return err
	}
	stamp := stamper(cmd.Context(), c.Fixity.Timestamp, cli.Version())
	p.Key, p.Identity = key, &wacz.Identity{Chain: chain, Stamp: func(sum [sha256.Size]byte) (wacz.Stamp, error) {
		answer, err := stamp(sum)
		if err != nil {
			return wacz.Stamp{}, err
		}
		return readStamp(answer, sum, nil)
	}}
	return nil
}

// readSigner reads the ECDSA public key, or the certificate, of somebody who signs manifests.
func readSigner(file string) (*ecdsa.PublicKey, error) {
	text, err := warc.ReadFile(file, maxPublic)
	if err != nil {
		return nil, err
	}
	var key any
	if block, _ := pem.Decode(text); block != nil && block.Type == "CERTIFICATE" {
		var c *x509.Certificate
		if c, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = c.PublicKey
		}
	} else if block != nil {
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	}
	public, ok := key.(*ecdsa.PublicKey)
	if err != nil || !ok {
		return nil, errors.New("want an ECDSA public key or a certificate in PEM; " +
			"openssl ec -in library.pem -pubout writes the public key")
	}
	return public, nil
}
