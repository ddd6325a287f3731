package main

import (
	"bytes"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// bareLoop does the minimum that an archive of documents needs: GET, SHA-1, gzip, append. It has no queue, no rules of
// robots.txt, no links, no records, no fsync, and no memory of its visits.
type bareLoop struct {
	client *http.Client
	ask    bool // send the ETag of the document, which it computes instead of remembering it
	hangUp bool // close the connection after the head
	dedupe bool // store each body once

	mu   sync.Mutex // guards the fields below
	file *os.File
	seen map[[sha1.Size]byte]bool
	err  error
}

// bare runs the process of the bare loop.
func bare(args []string) error {
	var b bareLoop
	var list, out, authority string
	var workers int
	flags := flag.NewFlagSet("bare", flag.ContinueOnError)
	flags.StringVar(&list, "list", "", "read URIs from this `file`")
	flags.StringVar(&out, "out", "", "append all documents to this `file`")
	flags.StringVar(&authority, "authority", "", "trust the certificate in this `file`")
	flags.IntVar(&workers, "workers", 8, "use `N` connections")
	flags.BoolVar(&b.ask, "ask", false, "make requests conditional")
	flags.BoolVar(&b.hangUp, "hangup", false, "close the connection after the head")
	flags.BoolVar(&b.dedupe, "dedupe", false, "store each body once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	uris, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	if b.file, err = os.Create(out); err != nil {
		return err
	}
	b.seen = make(map[[sha1.Size]byte]bool)
	if b.client, err = bareClient(authority, workers); err != nil {
		return err
	}
	work := make(chan string, workers)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			var m memory
			m.zip = gzip.NewWriter(&m.packed)
			for u := range work {
				if err := b.fetch(u, &m); err != nil {
					b.mu.Lock()
					b.err = errors.Join(b.err, err)
					b.mu.Unlock()
				}
			}
		})
	}
	for u := range strings.Lines(string(uris)) {
		work <- strings.TrimSpace(u)
	}
	close(work)
	working.Wait()
	return errors.Join(b.err, b.file.Close())
}

// memory holds the buffers of one worker.
type memory struct {
	body, packed bytes.Buffer
	zip          *gzip.Writer // with the default level of the library
}

// bareClient returns a client that trusts the certificate of authority, if that is not empty.
func bareClient(authority string, workers int) (*http.Client, error) {
	t := &http.Transport{DisableCompression: true, MaxIdleConns: 1000, MaxIdleConnsPerHost: workers}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t}, nil
}

// fetch fetches and stores one document.
func (b *bareLoop) fetch(u string, m *memory) error {
	req, err := http.NewRequest(http.MethodGet, u, nil)
	if err != nil {
		return err
	}
	if b.ask {
		req.Header.Set("If-None-Match", etag(req.URL.Path))
	}
	res, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	head, err := httputil.DumpResponse(res, false)
	if err != nil {
		return err
	}
	m.body.Reset()
	if !b.hangUp {
		if _, err = m.body.ReadFrom(res.Body); err != nil {
			return err
		}
	}
	body := m.body.Bytes()
	sum := sha1.Sum(body)
	if b.dedupe {
		b.mu.Lock()
		if b.seen[sum] {
			body = nil
		}
		b.seen[sum] = true
		b.mu.Unlock()
	}
	return b.keep(head, body, m)
}

// keep appends one gzip member.
func (b *bareLoop) keep(head, body []byte, m *memory) error {
	m.packed.Reset()
	m.zip.Reset(&m.packed)
	_, err1 := m.zip.Write(head)
	_, err2 := m.zip.Write(body)
	if err := errors.Join(err1, err2, m.zip.Close()); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.file.Write(m.packed.Bytes())
	return err
}
