package testcrawl

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Epoch is the time at which testing/synctest begins.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Page defines the answers of a page from a moment on.
type Page struct {
	From     time.Duration // since the town was founded
	Every    time.Duration // a new version each time; 0 = it never changes
	Status   int           // 0 = 200
	Type     string        // Content-Type; "" = text/html; charset=utf-8
	Body     string        // fixed text; "" = a sentence that names the page and its version, and its links
	Size     int           // pad the body to this many bytes
	Clock    bool          // the body ends with the time of the request, in <i class="clock">
	Minutes  bool          // the same, as hours and minutes
	Needs    string        // cookie without which the page redirects to itself and sets it, with its attributes
	Sets     string        // cookie that the page sets with each answer
	Token    bool          // a form at the end of the body has a token in a hidden field, which differs at each request
	Links    []string
	Lists    int // the page is an RSS feed of its N newest versions, each an item /item/<version>
	Location string
	ETag     string // "" = none, "honest" follows the version, "weak" does too and says W/, anything else is sent as it is
	Modified string // "" = none, "honest" follows the version, "lie" is always the time when the town began
	Ignore   bool   // conditional requests are answered with the whole page
	Deny     bool   // conditional requests are always answered with 304
	Retry    string // Retry-After header
	Down     bool   // the connection is refused
	Cut      bool   // the body ends half-way
	Chunked  bool   // the body is sent in chunks
	Rude     bool   // each second request is not answered
	Line     string // the status line, as it is; "" = a valid one
}

// Town is a set of sites. It is safe for concurrent use.
//
// The answers of a page are a function of the time. A page has a version that changes at fixed intervals, validators
// that are right, wrong or absent, a status, a redirect, and links. A later definition replaces an earlier one at its
// own time: so a page fails, moves, or returns.
type Town struct {
	founded time.Time
	server  http.Server
	doors   chan net.Conn
	closed  chan struct{}
	serving sync.WaitGroup

	mu    sync.Mutex              // guards the fields below
	pages map[string][]Page       // by URI, in order of From
	hosts map[string]struct{}     // names that resolve
	sites map[string]http.Handler // by host name: handlers that answer instead of pages
	certs map[string]*tls.Config  // by address: of sites over https
	asked []Request
	rude  bool // the last request to a rude page was answered
}

// Request is one request to the town.
type Request struct {
	At          time.Time
	URI         string
	Conditional bool
	Status      int
	Sent        int               // body bytes
	Sum         [sha256.Size]byte // of the whole body
	Broken      bool              // the client hung up before the body was sent
	Version     int
	From        time.Duration // of the page's definition in force
}

// NewTown starts a town whose clock begins at now.
func NewTown(now time.Time) *Town {
	t := &Town{
		founded: now, doors: make(chan net.Conn), closed: make(chan struct{}),
		pages: make(map[string][]Page), hosts: make(map[string]struct{}), sites: make(map[string]http.Handler),
		certs: make(map[string]*tls.Config),
	}
	t.server.Handler = t
	t.serving.Go(func() { _ = t.server.Serve((*door)(t)) })
	return t
}

// Close ends all connections.
func (t *Town) Close() {
	close(t.closed)
	_ = t.server.Close()
	t.serving.Wait()
}

// Set defines the answers of the page at u from p.From on. If u ends in /*, it applies to all pages of the folder that
// have no definition of their own.
func (t *Town) Set(u string, p Page) error {
	parsed, err := uri.Parse(u)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hosts[parsed.Address()] = struct{}{}
	pages := t.pages[parsed.String()]
	if len(pages) > 0 && pages[len(pages)-1].From > p.From {
		return fmt.Errorf("define %s from %s on: a later definition is there already", u, p.From)
	}
	t.pages[parsed.String()] = append(pages, p)
	return nil
}

// Serve lets a handler answer all requests to a host on port 80.
func (t *Town) Serve(host string, site http.Handler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hosts[host+":80"] = struct{}{}
	t.sites[host] = site
}

// ServeTLS lets a handler answer all requests to a host on port 443, over the version of HTTP on which c and the client
// agree.
func (t *Town) ServeTLS(host string, c *tls.Config, site http.Handler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hosts[host+":443"] = struct{}{}
	t.sites[host], t.certs[host+":443"] = site, c
}

// hasty is a connection that does not wait for its peer when it is closed. [tls.Conn] says goodbye for up to five
// seconds, while the closing server holds its mutex, and the virtual clock stands still for who waits for a mutex.
type hasty struct{ net.Conn }

func (h hasty) SetWriteDeadline(time.Time) error { return h.Conn.SetWriteDeadline(time.Now()) }

// patient is a connection whose deadlines can be set after its peer has closed it, as a socket's can. What was received
// before can still be read.
type patient struct{ net.Conn }

func (p patient) SetDeadline(t time.Time) error     { return unlessClosed(p.Conn.SetDeadline(t)) }
func (p patient) SetReadDeadline(t time.Time) error { return unlessClosed(p.Conn.SetReadDeadline(t)) }

func (p patient) SetWriteDeadline(t time.Time) error { return unlessClosed(p.Conn.SetWriteDeadline(t)) }

func unlessClosed(err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// Requests returns the requests so far, oldest first.
func (t *Town) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.asked)
}

// Dial connects to a site of the town. Other names do not resolve.
func (t *Town) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	t.mu.Lock()
	_, known := t.hosts[address]
	secure := t.certs[address]
	down := false
	for u, pages := range t.pages {
		if p, ok := current(pages, time.Since(t.founded)); ok && p.Down && uri.FromCanonical(u).Address() == address {
			down = true
		}
	}
	t.mu.Unlock()
	if !known {
		name, _, _ := net.SplitHostPort(address)
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connection refused")}
	}
	ours, theirs := net.Pipe()
	if secure != nil {
		theirs = tls.Server(hasty{theirs}, secure)
	}
	select {
	case t.doors <- theirs:
		return patient{ours}, nil
	case <-t.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ServeHTTP answers by the current definition of the page.
func (t *Town) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	name := "http://" + r.Host + r.URL.RequestURI()
	t.mu.Lock()
	if site := t.sites[r.Host]; site != nil {
		t.mu.Unlock()
		site.ServeHTTP(w, r)
		return
	}
	page, known := current(t.pages[name], now.Sub(t.founded))
	for pos := len(name); !known && pos > 0; pos = strings.LastIndexByte(name[:pos], '/') {
		page, known = current(t.pages[name[:pos]+"/*"], now.Sub(t.founded))
	}
	t.rude = page.Rude && !t.rude
	hangUp := page.Rude && !t.rude
	t.mu.Unlock()
	if hangUp {
		panic(http.ErrAbortHandler)
	}
	conditional := r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""
	asked := Request{At: now, URI: name, Conditional: conditional}
	if !known {
		page = Page{Status: http.StatusNotFound, Type: "text/plain", Body: "no such page\n"}
	}
	if page.Line != "" {
		page.answerRaw(w)
		return
	}
	asked.From, asked.Version = page.From, page.version(now.Sub(t.founded))
	page.answer(w, r, t.founded, &asked)
	t.mu.Lock()
	t.asked = append(t.asked, asked)
	t.mu.Unlock()
	if page.Cut {
		panic(http.ErrAbortHandler) // makes net/http end the body early
	}
}

func current(pages []Page, age time.Duration) (Page, bool) {
	for i := len(pages) - 1; i >= 0; i-- {
		if pages[i].From <= age {
			return pages[i], true
		}
	}
	return Page{}, false
}

func (p Page) version(age time.Duration) int {
	if p.Every == 0 {
		return 0
	}
	return int((age - p.From) / p.Every)
}

// answer writes the response, and notes in asked what was sent.
func (p Page) answer(w http.ResponseWriter, r *http.Request, founded time.Time, asked *Request) {
	version, h := asked.Version, w.Header()
	kind := "text/html; charset=utf-8"
	if p.Lists > 0 {
		kind = "application/rss+xml"
	}
	h.Set("Content-Type", cmp.Or(p.Type, kind))
	changed := founded.Add(p.From + time.Duration(version)*p.Every)
	p.validators(h, founded, changed, version)
	if p.Location != "" {
		h.Set("Location", p.Location)
	}
	if p.Retry != "" {
		h.Set("Retry-After", p.Retry)
	}
	if p.Sets != "" {
		h.Add("Set-Cookie", p.Sets)
	}
	if name, rest, needs := strings.Cut(p.Needs, "="); needs {
		value, _, _ := strings.Cut(rest, ";")
		if c, err := r.Cookie(name); err != nil || c.Value != value {
			h.Add("Set-Cookie", p.Needs+"; Path=/; Max-Age=864000")
			h.Set("Location", r.URL.RequestURI())
			p = Page{Status: http.StatusFound}
		}
	}
	conditional := r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != ""
	if !p.Ignore && p.Status == 0 && (fresh(r, h) || p.Deny && conditional) {
		h.Del("Content-Type")
		asked.Status = http.StatusNotModified
		w.WriteHeader(asked.Status)
		return
	}
	body := p.text(asked.URI, version)
	if p.Lists > 0 {
		body = p.feed(founded, version)
	}
	if p.Clock {
		body += fmt.Sprintf("<i class=\"clock\">%s</i>\n", time.Since(founded))
	}
	if p.Minutes {
		body += "<i class=\"clock\">" + time.Now().Format("15:04") + "</i>\n"
	}
	if p.Token {
		body += fmt.Sprintf("<form><input type=\"hidden\" name=\"token\" value=\"%d\"></form>\n", time.Since(founded))
	}
	asked.Status, asked.Sum = cmp.Or(p.Status, http.StatusOK), sha256.Sum256([]byte(body))
	if !p.Chunked {
		h.Set("Content-Length", fmt.Sprint(len(body)))
	}
	w.WriteHeader(asked.Status)
	if p.Cut {
		body = body[:len(body)/2]
	}
	n, err := w.Write([]byte(body))
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	asked.Sent, asked.Broken = n, err != nil
}

// answerRaw answers with the status line of the page, valid or not, and closes the connection.
func (p Page) answerRaw(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	const head = "%s\r\nContent-Type: text/html\r\nContent-Length: %d\r\nETag: %q\r\nConnection: close\r\n\r\n%s"
	_, _ = fmt.Fprintf(c, head, p.Line, len(p.Body), p.ETag, p.Body)
	_, _ = io.Copy(io.Discard, c) // until the client closes the connection
}

func (p Page) validators(h http.Header, founded, changed time.Time, version int) {
	switch p.ETag {
	case "":
	case "honest":
		h.Set("ETag", fmt.Sprintf(`"%d-%d"`, int(p.From/time.Second), version))
	case "weak":
		h.Set("ETag", fmt.Sprintf(`W/"%d-%d"`, int(p.From/time.Second), version))
	default:
		h.Set("ETag", p.ETag)
	}
	switch p.Modified {
	case "":
	case "lie":
		h.Set("Last-Modified", founded.UTC().Format(http.TimeFormat))
	default:
		h.Set("Last-Modified", changed.UTC().Format(http.TimeFormat))
	}
}

// fresh reports whether the condition of a request holds (RFC 9110, section 13.2.2).
func fresh(r *http.Request, h http.Header) bool {
	if ask := r.Header.Get("If-None-Match"); ask != "" {
		return ask == h.Get("ETag")
	}
	ask := r.Header.Get("If-Modified-Since")
	return ask != "" && ask == h.Get("Last-Modified")
}

func (p Page) text(name string, version int) string {
	text := p.Body
	if text == "" {
		var b strings.Builder
		fmt.Fprintf(&b, "<!doctype html><title>%s</title><p>Version %d of the page since %s.</p>\n", name, version, p.From)
		for _, link := range p.Links {
			fmt.Fprintf(&b, "<a href=%q>%s</a>\n", link, link)
		}
		text = b.String()
	}
	if pad := p.Size - len(text); pad > 0 {
		text += strings.Repeat("x", pad)
	}
	return text
}

// feed returns an RSS feed of the newest versions.
func (p Page) feed(founded time.Time, version int) string {
	var b strings.Builder
	b.WriteString("<rss version=\"2.0\"><channel><title>News</title>" + p.Body)
	for v := version; v >= 0 && v > version-p.Lists; v-- {
		date := founded.Add(p.From + time.Duration(v)*p.Every).UTC().Format(time.RFC1123)
		fmt.Fprintf(&b, "<item><guid>%d</guid><title>%d</title><link>/item/%d</link><pubDate>%s</pubDate></item>\n", v, v, v, date)
	}
	b.WriteString("</channel></rss>\n")
	return b.String()
}

// door is the listener of a town.
type door Town

func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.doors:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d *door) Close() error   { return nil }
func (d *door) Addr() net.Addr { return &net.IPAddr{} }
