package demosite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// Site is one newspaper. It only stores the time when it began, and is safe for concurrent use.
type Site struct{ start time.Time }

// New returns a newspaper that begins at start, rounded down to the second. Its first articles are a little older than
// start. Everything else happens after it.
func New(start time.Time) *Site { return &Site{start: start.UTC().Truncate(time.Second)} }

// Handler returns a handler that serves the site at the time of each request, as returned by now. Before its beginning
// the site is as at its beginning.
func (s *Site) Handler(now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, s.at(now())) })
}

// moment returns a time in whole seconds, and not before the beginning of the site.
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

// edition is everything that the content of a path depends on, except the path.
type edition struct {
	last        int   // number of the newest article it knows of
	number      int   // which article, which edition, which second
	corrections int   // of the article
	minute      int64 // what a running clock shows, in minutes since 1970; 0 without one
}

// resource is the content of one path, or of all paths of a kind.
type resource struct {
	mime     string
	tagged   bool // has an ETag
	dated    bool // has a Last-Modified
	stubborn bool // ignores the conditions of requests
	at       func(*Site, moment) (edition, int)
	modified func(*Site, edition) time.Time // when dated: since when it has been so
	body     func(s *Site, e edition, host string) []byte
}

// serve answers one request. It sets Date from the site's own time, so that the whole response depends only on that.
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
	case http.StatusGone:
		http.Error(w, "This article is withdrawn.", status)
	default:
		http.Error(w, "There is no such page yet.", status)
	}
}

// send answers with a body, or with 304 if the conditions of the request hold.
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
		_, _ = w.Write(body) // the reader may have gone away
	}
}
