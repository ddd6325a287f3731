package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// serve runs the process of the server. Its arguments are the site in JSON, and a file for the certificate of its
// authority. It prints its port, and ends when its standard input ends.
func serve(args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("only the benchmark itself starts serve")
	}
	var w wireSite
	if err := json.Unmarshal([]byte(args[0]), &w); err != nil {
		return err
	}
	s := w.site()
	l, err := net.Listen("tcp4", "0.0.0.0:0") // every loopback address is a host
	if err != nil {
		return err
	}
	s.serverPort = l.Addr().(*net.TCPAddr).Port
	if s.secure {
		authority, err := newAuthority()
		if err != nil {
			return err
		}
		if err := os.WriteFile(args[1], authority.pem(), 0o600); err != nil {
			return err
		}
		l = tls.NewListener(l, &tls.Config{GetCertificate: authority.certificate})
	}
	server := &http.Server{Handler: &handler{site: s, texts: texts(s.size)}, ErrorLog: nil}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	fmt.Fprintln(out, s.serverPort)
	_, err = io.Copy(io.Discard, os.Stdin)
	_ = server.Close()
	serving.Wait()
	return err
}

// wireSite is a site in the form in which the server receives it.
type wireSite struct {
	Size, Links, Hosts, Documents int
	Twins, Unconditional, Secure  bool
}

func (s site) wire() wireSite {
	return wireSite{
		Size: s.size, Links: s.links, Hosts: s.hosts, Documents: s.documents,
		Twins: s.twins, Unconditional: s.unconditional, Secure: s.secure,
	}
}

func (w wireSite) site() site {
	return site{
		size: w.Size, links: w.Links, hosts: w.Hosts, documents: w.Documents,
		twins: w.Twins, unconditional: w.Unconditional, secure: w.Secure,
	}
}

type handler struct {
	site   site
	texts  [][]byte
	bodies sync.Pool // of *[]byte
}

// ServeHTTP answers with a document, with 304 if the client has it, or with a robots.txt.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	if r.URL.Path == "/robots.txt" {
		head.Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private/\nDisallow: /search\nAllow: /\n")
		return
	}
	number, ok := strings.CutPrefix(r.URL.Path, "/d/")
	d, err := strconv.Atoi(number)
	if !ok || err != nil || d < 0 || d >= h.site.documents {
		http.NotFound(w, r)
		return
	}
	tag := etag(r.URL.Path)
	head.Set("ETag", tag)
	head.Set("Last-Modified", "Thu, 01 Jan 2026 12:00:00 GMT")
	head.Set("Cache-Control", "max-age=300")
	if r.Header.Get("If-None-Match") == tag && !h.site.unconditional {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	buf, _ := h.bodies.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	name, _, _ := strings.Cut(r.Host, ":")
	*buf = h.site.document((*buf)[:0], h.texts, name, d)
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(len(*buf)))
	_, _ = w.Write(*buf) // clients that close early are part of the benchmark
	h.bodies.Put(buf)
}

// authority signs the certificates of the hosts.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	made sync.Map // *tls.Certificate by address
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "benchcrawl"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{key: key, cert: cert}, err
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// certificate returns the certificate for the address to which the client has connected.
func (a *authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	ip := hello.Conn.LocalAddr().(*net.TCPAddr).IP
	if c, ok := a.made.Load(ip.String()); ok {
		return c.(*tls.Certificate), nil
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: ip.String()},
		IPAddresses: []net.IP{ip}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	a.made.Store(ip.String(), c)
	return c, nil
}
