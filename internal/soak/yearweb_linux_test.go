package soak_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

const day = 24 * time.Hour

// A mood says how a host answers.
type mood int

const (
	fine     mood = iota
	unborn        // its name does not resolve
	moved         // each page redirects to the same page of another host
	goneName      // dead: its name does not resolve
	gone          // dead: each page answers 410
	silent        // dead: no connection is made in time
	refusing      // trouble: connections are refused
	failing       // trouble: each answer is 500
	busy          // trouble: 503 with Retry-After
	endless       // hostile: the front page leads into links without end
	huge          // hostile: bodies without end
	dripping      // hostile: one byte a second
	garbled       // hostile: broken status lines
)

func (m mood) String() string {
	return [...]string{
		"fine", "unborn", "moved", "dead: no name", "dead: 410", "dead: silent", "refusing", "500", "503", "endless links",
		"huge bodies", "slow bodies", "garbled status lines",
	}[m]
}

// A phase is a mood from a moment on, since the epoch.
type phase struct {
	from time.Duration
	mood mood
}

// yearHost is a host of the web. What it answers is a function of the time.
type yearHost struct {
	n         int
	name      string
	born      time.Duration
	phases    []phase         // in order
	templates []time.Duration // moments at which all its pages get another template
	news      time.Duration   // between two versions of the front page
	writes    time.Duration   // between two articles
	corrects  int             // one article in this number is corrected once
	keeps     time.Duration   // how long an article is there
	tags      bool            // sends ETags
	to        string          // where it moves to
}

// yearWeb is the web of a year. It is made from a seed, and is the same in each process.
type yearWeb struct {
	hosts []*yearHost
	names map[string]*yearHost
	lasts time.Duration
}

// newYearWeb draws a web. Half of the hosts are born in the first twelfth; later, about as many are born as die.
func newYearWeb(seed uint64, hosts int, lasts time.Duration) *yearWeb {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &yearWeb{names: map[string]*yearHost{}, lasts: lasts}
	between := func(a, b time.Duration) time.Duration { return a + time.Duration(r.Int64N(int64(max(1, b-a)))) }
	for n := range hosts {
		h := &yearHost{n: n, name: fmt.Sprintf("host%d.example", n), tags: r.IntN(2) == 0, corrects: 2 + r.IntN(8)}
		first := n < hosts/2
		h.born = between(0, lasts/24)
		if !first {
			h.born = between(lasts/12, lasts*23/24)
		}
		h.news = []time.Duration{time.Hour, time.Hour, 2 * time.Hour, 6 * time.Hour, day, 3 * day}[r.IntN(6)]
		h.news += between(0, h.news/5)
		h.writes = between(day, 6*day)
		h.keeps = between(20*day, 80*day)
		for t := between(20*day, 200*day); t < lasts; t += between(60*day, 200*day) {
			h.templates = append(h.templates, t)
		}
		h.draw(r, between, first, lasts, hosts)
		w.hosts, w.names[h.name] = append(w.hosts, h), h
	}
	return w
}

// draw draws the moods of a host.
func (h *yearHost) draw(
	r *rand.Rand, between func(a, b time.Duration) time.Duration, first bool, lasts time.Duration, hosts int,
) {
	h.phases = []phase{{0, unborn}, {h.born, fine}}
	ends := lasts + 1
	if first || r.IntN(4) == 0 { // the first half dies in the course of the year
		ends = between(max(h.born+lasts/60, lasts/12), lasts*21/20)
	}
	at := h.born + between(lasts/60, lasts/4)
	for {
		m := []mood{refusing, failing, failing, busy, endless, huge, dripping, garbled}[r.IntN(8)]
		until := at + between(min(time.Hour, lasts/100), min(2*day, lasts/20))
		if m >= endless {
			until += between(0, min(3*day, lasts/20))
		}
		if until >= ends || until >= lasts {
			break
		}
		h.phases = append(h.phases, phase{at, m}, phase{until, fine})
		at = until + between(lasts/20, lasts/3)
	}
	if ends > lasts {
		return
	}
	m := []mood{moved, moved, goneName, gone, silent}[r.IntN(5)]
	h.to = fmt.Sprintf("host%d.example", hosts/2+r.IntN(max(1, hosts-hosts/2)))
	if h.to == h.name {
		m = gone
	}
	h.phases = append(h.phases, phase{ends, m})
}

// at returns the mood at a time since the epoch.
func (h *yearHost) at(t time.Duration) mood {
	m := unborn
	for _, p := range h.phases {
		if p.from > t {
			break
		}
		m = p.mood
	}
	return m
}

// fineSince returns since when a host has been fine without a break; ok is false if it is not.
func (h *yearHost) fineSince(t time.Duration) (since time.Duration, ok bool) {
	for _, p := range h.phases {
		if p.from <= t {
			since, ok = p.from, p.mood == fine
		}
	}
	return since, ok
}

// template counts the templates of a host up to a time.
func (h *yearHost) template(t time.Duration) int {
	i, _ := slices.BinarySearch(h.templates, t+1)
	return i
}

// since counts the periods since the birth of a host.
func (h *yearHost) since(t, period time.Duration) int { return int((t - h.born) / period) }

// published returns when an article appears, when it is corrected (0 = never), and when it disappears.
func (h *yearHost) published(n int) (from, corrected, until time.Duration) {
	from = h.born + time.Duration(n)*h.writes
	if n%h.corrects == 1 {
		corrected = from + h.keeps/3 + time.Duration(n%7)*time.Hour
	}
	return from, corrected, from + h.keeps
}

// A change is a moment at which a page begins to show a version.
type change struct {
	from    time.Duration
	version string
}

// version names what a path shows at a time; "" if there is nothing. Two times with the same name have the same bytes.
func (h *yearHost) version(path string, t time.Duration) string {
	switch {
	case path == "/":
		return fmt.Sprintf("t%d v%d", h.template(t), h.since(t, h.news))
	case path == "/feed":
		return fmt.Sprintf("v%d", h.since(t, h.writes))
	case strings.HasPrefix(path, "/section/"):
		return fmt.Sprintf("t%d v%d", h.template(t), h.since(t, 2*day))
	case path == "/logo.png":
		return "v0"
	}
	n, err := strconv.Atoi(strings.TrimPrefix(path, "/article/"))
	if err != nil || n < 0 {
		return ""
	}
	from, corrected, until := h.published(n)
	switch {
	case t < from || t >= until:
		return ""
	case corrected > 0 && t >= corrected:
		return fmt.Sprintf("t%d v1", h.template(t))
	}
	return fmt.Sprintf("t%d v0", h.template(t))
}

// paths returns all paths that a host has had up to a time.
func (h *yearHost) paths(t time.Duration) []string {
	if t < h.born {
		return nil
	}
	all := []string{"/", "/feed", "/section/1", "/section/2", "/logo.png"}
	for n := range h.since(t, h.writes) + 1 {
		all = append(all, fmt.Sprintf("/article/%d", n))
	}
	return all
}

// changes lists when a path begins to show each of its versions, up to a time; a version "" ends the one before.
func (h *yearHost) changes(path string, until time.Duration) []change {
	times := slices.Clone(h.templates)
	for _, p := range h.phases {
		times = append(times, p.from)
	}
	every := func(period time.Duration) {
		for t := h.born; t < until; t += period {
			times = append(times, t)
		}
	}
	switch {
	case path == "/":
		every(h.news)
	case path == "/feed":
		every(h.writes)
	case strings.HasPrefix(path, "/section/"):
		every(2 * day)
	case strings.HasPrefix(path, "/article/"):
		n, _ := strconv.Atoi(strings.TrimPrefix(path, "/article/"))
		from, corrected, ends := h.published(n)
		times = append(times, from, corrected, ends)
	}
	slices.Sort(times)
	var all []change
	for _, t := range slices.Compact(times) {
		v := ""
		if h.at(t) == fine {
			v = h.version(path, t)
		}
		if t < until && (len(all) == 0 || all[len(all)-1].version != v) {
			all = append(all, change{t, v})
		}
	}
	return all
}

// body returns the bytes of a version, and its type.
func (h *yearHost) body(path, version string) (kind string, text []byte) {
	switch {
	case path == "/logo.png": // the same on all hosts
		return "image/png", slices.Repeat([]byte("\x89PNG the same logo"), 100)
	case path == "/feed":
		return "application/rss+xml", h.feed(version)
	}
	var b strings.Builder
	template, _, _ := strings.Cut(version, " ")
	fmt.Fprintf(&b, "<!doctype html><title>%s of %s</title><link rel=alternate type=application/rss+xml href=/feed>",
		path, h.name)
	fmt.Fprintf(&b, "<header class=%s>%s</header><img src=/logo.png>", template, h.words("template"+template, 60))
	fmt.Fprintf(&b, "<article>%s</article>\n", h.words(path+version, 150))
	fmt.Fprint(&b, "<a href=/>front</a> <a href=/section/1>one</a> <a href=/section/2>two</a>\n")
	if !strings.HasPrefix(path, "/article/") {
		n := h.listed(path, version)
		for i := max(0, n-8); i <= n; i++ {
			fmt.Fprintf(&b, "<a href=/article/%d>%s</a>\n", i, h.words(fmt.Sprint("article", i), 4))
		}
	}
	return "text/html; charset=utf-8", []byte(b.String())
}

// listed returns the newest article that a version of a list names: the newest one when the version began.
func (h *yearHost) listed(path, version string) int {
	_, v, _ := strings.Cut(version, " v")
	n, _ := strconv.Atoi(v)
	period := h.news
	if path != "/" {
		period = 2 * day
	}
	return int(time.Duration(n) * period / h.writes)
}

func (h *yearHost) feed(version string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<rss version='2.0'><channel><title>%s</title>\n", h.name)
	last, _ := strconv.Atoi(strings.TrimPrefix(version, "v"))
	for n := last; n >= max(0, last-5); n-- {
		from, _, _ := h.published(n)
		fmt.Fprintf(&b, "<item><guid>%d</guid><link>/article/%d</link><pubDate>%s</pubDate></item>\n", n, n,
			testcrawl.Epoch.Add(from).Format(time.RFC1123))
	}
	return []byte(b.String() + "</channel></rss>\n")
}

// words returns words that a text decides.
func (h *yearHost) words(text string, n int) string {
	sum := sha256.Sum256([]byte(h.name + text))
	r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), 7))
	const letters = "etaoinshrdlucmfwypvbgkqjxz"
	b := make([]byte, 0, 8*n)
	for range n {
		for range 2 + r.IntN(8) {
			b = append(b, letters[r.IntN(1+r.IntN(len(letters)))])
		}
		b = append(b, ' ')
	}
	return string(b)
}

func age() time.Duration { return time.Since(testcrawl.Epoch) }

// dial connects to a host as its mood allows.
func (w *yearWeb) dial(tw *testcrawl.Town) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		name, _, _ := net.SplitHostPort(address)
		h := w.names[name]
		m := goneName
		if h != nil {
			m = h.at(age())
		}
		switch m {
		case unborn, goneName:
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		case silent:
			<-ctx.Done()
			return nil, ctx.Err()
		case refusing:
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connection refused")}
		}
		return tw.Dial(ctx, network, address)
	}
}

// ServeHTTP answers as the host does now.
func (h *yearHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now, path := age(), r.URL.Path
	m := h.at(now)
	switch m {
	case moved:
		http.Redirect(w, r, "http://"+h.to+path, http.StatusMovedPermanently)
		return
	case gone:
		http.Error(w, "gone", http.StatusGone)
		return
	case failing:
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	case busy:
		w.Header().Set("Retry-After", "1800")
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	if path == "/robots.txt" {
		fmt.Fprintf(w, "User-agent: *\nDisallow: /private%d/\n", h.n)
		return
	}
	if m != fine && m != endless || m == endless && (path == "/" || strings.HasPrefix(path, "/maze/")) {
		h.attack(w, r, m)
		return
	}
	version := h.version(path, now)
	if version == "" {
		http.NotFound(w, r)
		return
	}
	if h.tags {
		tag := fmt.Sprintf("%q", version)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	kind, body := h.body(path, version)
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body)
}

// attack answers as a hostile host.
func (h *yearHost) attack(w http.ResponseWriter, r *http.Request, m mood) {
	switch m {
	case endless:
		fmt.Fprintf(w, "<title>maze</title><p>%s</p>", h.words(r.URL.String(), 30))
		for i := range 6 {
			fmt.Fprintf(w, "<a href=%s/%s>on</a>", strings.TrimSuffix("/maze"+strings.TrimPrefix(r.URL.Path, "/maze"), "/"),
				strings.ReplaceAll(h.words(fmt.Sprint(r.URL, i), 1), " ", ""))
		}
	case huge:
		w.Header().Set("Content-Type", "text/html")
		chunk := []byte(strings.Repeat(h.words(r.URL.Path, 20), 50))
		for range 400 { // 2 MB, more than fetch.max_body
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	case dripping:
		w.Header().Set("Content-Type", "text/html")
		for range 3600 {
			if _, err := w.Write([]byte("s")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
		}
	default:
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			fmt.Fprint(c, "HTTP/9 okay-ish\r\n\x00\r\nbroken")
			_ = c.Close()
		}
	}
}
