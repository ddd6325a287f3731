package demosite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// Site is one such newspaper. It keeps nothing but the time when it began, and may be asked by many at once.
type Site struct{ start time.Time }

// New begins a newspaper. Its stock of articles is a little older than start; everything else happens after it. Start
// is cut to the second, for that is how finely the site tells the time.
func New(start time.Time) *Site { return &Site{start: start.UTC().Truncate(time.Second)} }

// Handler serves the site as it is at the time that now tells when a request comes in. Before its beginning the site is
// as at its beginning.
func (s *Site) Handler(now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, s.at(now())) })
}

// Versions counts the different contents that were to be had at path at any time from one moment to another, both
// included: what a crawler that never blinked would have captured. For /latest it counts the targets. A path that
// answered nothing but 404 or 503 all the time had none. It looks at each second of the stretch once.
func (s *Site) Versions(path string, from, to time.Time) int {
	res, ok := find(path)
	if !ok {
		return 0
	}
	seen := map[edition]bool{}
	for t := from.Truncate(time.Second); !t.After(to); t = t.Add(time.Second) {
		if e, status := res.at(s, s.at(t)); status != http.StatusNotFound && status != http.StatusServiceUnavailable {
			seen[e] = true
		}
	}
	return len(seen)
}

// moment is a time as the site sees it: never before its beginning, and in whole seconds.
type moment struct {
	time time.Time
	age  time.Duration
}

func (s *Site) at(t time.Time) moment {
	t = t.UTC().Truncate(time.Second)
	if t.Before(s.start) {
		t = s.start
	}
	return moment{time: t, age: t.Sub(s.start)}
}

// edition is everything that the content at a path depends on, beside the path. Two editions differ exactly when their
// contents do; [Site.Versions] rests on that, and a test makes sure of it.
type edition struct {
	last        int   // number of the newest article it knows of
	number      int   // which article, which edition, which second
	corrections int   // of the article
	minute      int64 // what a running clock shows, in minutes since 1970; 0 without one
}

// resource is what is found at one path, or at all paths of a kind.
type resource struct {
	mime     string
	tagged   bool // has an ETag
	dated    bool // has a Last-Modified
	stubborn bool // sends the whole body whatever the request's conditions say
	at       func(*Site, moment) (edition, int)
	modified func(*Site, edition) time.Time // when dated: since when it has been so
	body     func(s *Site, e edition, host string) []byte
}

// serve answers one request. The Date is set from the site's own time, so that all of the response follows from it.
func (s *Site) serve(w http.ResponseWriter, r *http.Request, now moment) {
	h := w.Header()
	h.Set("Date", now.time.Format(http.TimeFormat))
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	res, ok := find(r.URL.Path)
	if !ok {
		http.Error(w, "There is no such page.", http.StatusNotFound)
		return
	}
	e, status := res.at(s, now)
	switch status {
	case http.StatusOK:
		res.send(w, r, s, e)
	case http.StatusFound:
		http.Redirect(w, r, s.story(e.number, 0).Path(), status)
	case http.StatusServiceUnavailable:
		http.Error(w, "The weather station does not answer.", status)
	default:
		http.Error(w, "There is no such page yet.", status)
	}
}

// send answers with a body, or with 304 where the request's conditions allow it.
func (res resource) send(w http.ResponseWriter, r *http.Request, s *Site, e edition) {
	body := res.body(s, e, r.Host)
	h := w.Header()
	h.Set("Content-Type", res.mime)
	if res.tagged {
		sum := sha256.Sum256(body)
		h.Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	}
	if !res.stubborn && (res.tagged || res.dated) {
		var modified time.Time
		if res.dated {
			modified = res.modified(s, e)
		}
		http.ServeContent(w, r, "", modified, bytes.NewReader(body))
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a reader that goes away is no fault of the site's
	}
}
