package whatif

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// Browser loads pages. The wing that renders pages has one.
type Browser interface {
	Load(ctx context.Context, p Page) (Shown, error)
}

// Page is a page that a browser loads, with its bounds.
type Page struct {
	URI         string
	Limit       time.Duration // until the page is taken as it is
	MaxRequests int           // that are answered; all others fail
	Do          []config.Step // before the page is taken as it is
	// Pictured is called with a picture of the page before the first step, and after each; nil wants none.
	Pictured func(step int, png []byte)
	Picture  bool // a picture is wanted too
	// Answer answers a request of the page; main says that it is the request of the page itself. It is called by several
	// goroutines at once. Its context ends with the rendering.
	Answer func(ctx context.Context, address string, main bool) Answer
}

// Answer is the response to a request of a page.
type Answer struct {
	Status int // 0 = the request fails
	Header http.Header
	Body   []byte // without transfer and content coding
}

// Shown is a page as a browser shows it.
type Shown struct {
	Title   string
	Text    string // that a reader sees
	DOM     []byte // as HTML
	Picture []byte // of the whole page, PNG; empty unless it was wanted
	Late    bool   // the page was not quiet within its limit
	Steps   []Stepped
}

// Stepped says what came of a step.
type Stepped struct {
	Step     string `json:"step"`
	Times    int    `json:"times"` // clicks or screens
	Requests int    `json:"requests"`
	Took     int64  `json:"took"`  // milliseconds
	Ended    string `json:"ended"` // why
}

// Rendering holds what a browser makes of a page.
type Rendering struct {
	Title       string      `json:"title,omitempty"`
	Text        int         `json:"text"`         // characters that a reader sees
	Links       int         `json:"links"`        // of the page as it is rendered
	SourceLinks int         `json:"source_links"` // of the page as it was sent
	Requests    []Requested `json:"requests"`
	Late        bool        `json:"late,omitempty"` // the page was not quiet in time
	Steps       []Stepped   `json:"steps,omitempty"`
}

// Requested is a request of a rendered page.
type Requested struct {
	URI    string `json:"uri"`
	Status int    `json:"status,omitempty"` // 0 = it was not made
	Why    string `json:"why,omitempty"`    // it was not made
}

const (
	maxRequests = 30       // of a page that are made
	maxShown    = 500      // of a page that are listed
	maxBody     = 32 << 20 // bytes of an answer; a longer one counts as none
	maxBodies   = 64 << 20 // bytes of all answers of a page; others count as none
)

// stage renders one page. Its requests are made one after the other.
type stage struct {
	t      *Trial
	client *fetch.Client
	logins *login.Aspect
	page   uri.URI
	rest   time.Duration
	now    time.Time

	mu     sync.Mutex // held while a request is made
	rules  *robots.Rules
	main   Answer
	before map[string]Answer
	made   int
	bytes  int // of the answers in before
	list   []Requested
}

// errNoPage means that an answer is nothing that a browser shows as a page.
var errNoPage = errors.New("the answer is no page that a browser could show")

// keep keeps the page. The error says why it cannot be rendered.
func (g *stage) keep(got *fetch.Capture) (err error) {
	if got.Status != http.StatusOK || !got.Complete || !got.IsHTML() {
		return errNoPage
	}
	g.main, err = answerOf(got)
	return err
}

// answerOf returns an answer for the browser.
func answerOf(got *fetch.Capture) (a Answer, err error) {
	if got.Status < 0 {
		return a, nil
	}
	content, err := got.Content()
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	body, err := io.ReadAll(io.LimitReader(content, maxBody+1))
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > maxBody {
		return Answer{}, fmt.Errorf("the answer is longer than %d bytes, which is too long for the browser", maxBody)
	}
	return Answer{Status: got.Status, Header: got.Header.Clone(), Body: body}, nil
}

// run renders the page, and says what it requests and shows.
func (g *stage) run(ctx context.Context, b Browser, s *config.Settings) (*Rendering, error) {
	do := g.t.Do
	if do == nil {
		do = s.Render.Do
	}
	r, err := b.Load(ctx, Page{
		URI: g.page.String(), Answer: g.answer, Limit: s.Render.Limit, MaxRequests: s.Render.MaxRequests,
		Do: do, Pictured: g.t.Pictured,
	})
	if err != nil {
		return nil, err
	}
	out := &Rendering{Title: r.Title, Text: utf8.RuneCountInString(r.Text), Late: r.Late, Requests: g.list, Steps: r.Steps}
	if out.SourceLinks, err = g.links(ctx, g.main.Header, g.main.Body); err != nil {
		return nil, err
	}
	out.Links, err = g.links(ctx, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, r.DOM)
	return out, err
}

// links returns the number of links in a document.
func (g *stage) links(ctx context.Context, h http.Header, body []byte) (int, error) {
	doc := discover.Document{URI: g.page, Status: http.StatusOK, Header: h}
	found, err := discover.Links(ctx, doc, bytes.NewReader(body), discover.Bounds{})
	return len(found.Links), err
}

// answer answers a request of the page. An equal one gets the same answer.
func (g *stage) answer(ctx context.Context, address string, main bool) Answer {
	if main {
		return g.main
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if a, known := g.before[address]; known {
		return a
	}
	a, why := g.ask(ctx, address)
	if a.Status == 0 && ctx.Err() != nil {
		why = "the rendering ended before; see render.limit"
	}
	g.before[address] = a
	if len(g.list) < maxShown {
		g.list = append(g.list, Requested{URI: address, Status: a.Status, Why: why})
	}
	return a
}

// ask makes a request of the page to its own host, if robots.txt permits it. Otherwise it returns why not.
func (g *stage) ask(ctx context.Context, text string) (a Answer, why string) {
	u, err := uri.Parse(text)
	switch {
	case err != nil:
		return a, err.Error()
	case u.Host() != g.page.Host():
		return a, "it is on another host"
	case g.rules != nil && !g.rules.Allowed(robots.Agent, u):
		return a, "robots.txt forbids it"
	case ctx.Err() != nil:
		return a, ctx.Err().Error()
	case g.made >= maxRequests:
		return a, fmt.Sprintf("%d requests were made", maxRequests)
	}
	g.made++
	if err := g.t.Wait(ctx, g.rest); err != nil {
		return a, err.Error()
	}
	s := g.t.Config.For(config.About{URI: u, Now: g.now})
	x := g.t.Config.Request(u, &s, g.t.Version, g.now)
	if _, err := g.logins.AddTo(&x, config.Own[login.Options](&s), g.now); err != nil {
		return a, err.Error()
	}
	got, err := g.client.Fetch(ctx, g.t.withOther(x))
	if err != nil {
		return a, err.Error()
	}
	a, err = answerOf(got)
	if err = errors.Join(err, got.Close()); err != nil {
		return a, err.Error()
	}
	if got.Status < 0 {
		return a, got.Misfortune.Error()
	}
	if len(a.Body) > maxBodies-g.bytes {
		return Answer{}, fmt.Sprintf("the answers of the page are longer than %d bytes", maxBodies)
	}
	g.bytes += len(a.Body)
	return a, ""
}

// withOther returns a request with the fields that are sent in addition.
func (t *Trial) withOther(x fetch.Request) fetch.Request {
	x.Header, x.Secrets = slices.Clone(x.Header), slices.Clone(x.Secrets)
	for _, f := range t.Other {
		same := func(o fetch.Field) bool { return strings.EqualFold(o.Name, f.Name) }
		x.Header = append(slices.DeleteFunc(x.Header, same), f)
		x.Secrets = slices.DeleteFunc(x.Secrets, same)
	}
	return x
}
