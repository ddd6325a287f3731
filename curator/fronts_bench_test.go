package curator

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// BenchmarkFronts measures the requests of the page of pictures with 3,000 pictures of a page: 100 a day for 30 days,
// and the small pictures of pages of 1280 × 3400 pixels, made and kept.
func BenchmarkFronts(b *testing.B) {
	a := archivetest.New(b)
	page := newspapers[0]
	large := page.front(5, 1)
	record := a.Resource(fullPage+page.uri, "image/png", large)
	live, err := index.OpenLive(b.Context(), a.Dir, nil, func(warc.Finding) error { return nil })
	archivetest.Must(b, err)
	b.Cleanup(func() { _ = live.Close() })
	add := func(address, mime, digest string, at time.Time) {
		archivetest.Must(b, live.Add(index.Entry{
			Key: uri.ReplayKey(address), Timestamp: at.Format(index.DateLayout), URL: address, MIME: mime, Status: "200",
			Digest: digest, Length: record.Length, Offset: record.Offset, Filename: record.File,
		}))
	}
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	stamp := func(i int) string {
		return begin.Add(time.Duration(i%3000)*864*time.Second + 9*time.Second).Format(index.DateLayout)
	}
	for i := range 3000 {
		at := begin.Add(time.Duration(i) * 864 * time.Second)
		add(page.uri, "text/html", strconv.Itoa(i), at)
		add(fullPage+page.uri, "image/png", "p"+strconv.Itoa(i), at.Add(9*time.Second))
	}
	a.Seal()
	for range 2 { // a finished file counts from the second time on
		archivetest.Must(b, live.Merge(b.Context()))
	}
	w := newWorld(b, b.TempDir(), everyHour)
	defer w.Close()
	w.shows(live)
	handler := w.window.Handler(access.Options{})
	u := "uri=" + url.QueryEscape(page.uri)
	n := 0
	for name, path := range map[string]func() string{
		"list":  func() string { return "fronts" },
		"month": func() string { return "fronts/month?month=2026-11&" + u },
		"day":   func() string { return "fronts/day?day=2026-11-15&" + u },
		"small picture, made": func() string {
			n++
			return "picture?rendered=true&size=thumb&at=" + stamp(n) + "&" + u
		},
		"small picture, kept": func() string { return "picture?rendered=true&size=thumb&at=" + stamp(1) + "&" + u },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				got := httptest.NewRecorder()
				handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, api.Base+"/"+path(), nil))
				if got.Code != http.StatusOK {
					b.Fatal(got.Code, got.Body)
				}
			}
		})
	}
}
