package curator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	remoteSecret  = "a-secret-of-more-than-sixteen"
	curatorSecret = "another-secret-of-a-curator"
	front         = "http://www.news.example/"
)

// remoteArchive serves an archive to other programs: three versions of a front page, an article that moved, and hosts
// with similar names.
func remoteArchive(t *testing.T) (w *archived, s *httptest.Server) {
	t.Helper()
	w = newArchived(t)
	const page = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8"
	for _, text := range []string{"one", "two", "three"} { // an hour apart
		w.add(w.Page(front, page+"\r\nSet-Cookie: a=b", "<p>"+text), "text/html", 200)
	}
	w.add(w.Page(front+"moved", "HTTP/1.1 301 Moved\r\nLocation: article?a=b", ""), "unk", 301)
	w.add(w.Page(front+"article?a=b", page, "<p>article"), "text/html", 200)
	w.add(w.Page(front+"gone", "HTTP/1.1 410 Gone\r\nContent-Type: text/html", "<p>gone"), "text/html", 410)
	w.add(w.Page("http://sport.news.example/", page, "<p>goal"), "text/html", 200)
	w.add(w.Page("http://news.example.other/", page, "<p>other"), "text/html", 200)
	now := func() time.Time { return archivetest.Start.Add(24 * time.Hour) }
	path, _ := daemontest.Configure(t, daemontest.Settled+"[warc]\nprefix = \"test\"\nseries_names = [\"contracts\"]\n"+
		`about = [{ series = "contracts", title = "Contracts", embargo = "2031-01-01" }]`+"\n")
	inForce, err := config.Load(path)
	archivetest.Must(t, err)
	s = httptest.NewServer(newPlayer(playerOptions{
		Archive: w.reader, Tickets: newTickets(), Now: now,
		Remote: &remote{
			archive: &catalog{Archive: w.reader, Config: func() *config.Config { return inForce }}, now: now,
			reading: make(chan struct{}, 1),
			tokens: func() []access.Token {
				return []access.Token{
					{Name: "research", Role: access.Read, Secret: remoteSecret},
					{Name: "curator", Role: access.Curate, Secret: curatorSecret},
				}
			},
		},
	}))
	t.Cleanup(s.Close)
	return w, s
}

// asks sends a question, without following redirects.
func asks(t *testing.T, s *httptest.Server, path string, more ...string) (status int, h http.Header, body string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, s.URL+path, nil)
	r.Header.Set("Authorization", "Bearer "+remoteSecret)
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	out := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(out, r)
	return out.Code, out.Header(), out.Body.String()
}

// Other programs ask the CDX server as they ask pywb's.
func TestOtherProgramsAskForCaptures(t *testing.T) {
	t.Parallel()
	_, s := remoteArchive(t)
	for _, c := range []struct {
		question string
		want     string // times or paths of the captures, or the words of a refusal
	}{
		{"url=" + front, "09 10 11"},
		{"url=https://news.example", "09 10 11"},
		{"url=" + front + "&limit=2", "09 10"},
		{"url=" + front + "&sort=reverse&limit=2", "11 10"},
		{"url=" + front + "&sort=closest&closest=202611210955&limit=2", "10 09"},
		{"url=" + front + "&closest=20261121105959", "11 10 09"},
		{"url=" + front + "&from=2026112110", "10 11"},
		{"url=" + front + "&to=2026112110", "09 10"},
		{"url=" + front + "&from=2027", "No Captures found"},
		{"url=" + front + "nothing", "No Captures found"},
		{"url=" + front + "*", "09 10 11 13 14 12"},
		{"url=" + front + "&matchType=host&filter==status:200", "09 10 11 13"},
		{"url=" + front + "&matchType=host&filter=!=status:200&filter=~url:.*o", "14 12"},
		{"url=" + front + "&matchType=host&filter=!mime:html", "12"},
		{"url=" + front + "a&matchType=prefix", "13"},
		{"url=*.news.example", "09 10 11 13 14 12 15"},
		{"url=news.example&matchType=domain&pageSize=3&page=1", "13 14 12"},
		{"url=news.example&matchType=domain&pageSize=3&page=2", "15"},
		{"url=news.example&matchType=domain&pageSize=3&page=1&limit=4", "13"},
		{"url=news.example&matchType=domain&pageSize=3&page=3", "there is no such page"},
		{"url=news.example&matchType=domain&pageSize=3&page=1&limit=3", "there is no such page"},
		{"", "want url=ADDRESS"},
		{"url=" + front + "&matchType=all", "exact, prefix, host or domain"},
		{"output=xml&url=" + front, "cdxj, json or text"},
		{"url=" + front + "&limit=many", "limit=many: want a number"},
		{"url=" + front + "&from=yesterday", "from=yesterday: want up to 14 digits"},
		{"url=" + front + "&filter=status", "[!][=|~]FIELD:VALUE"},
		{"url=" + front + "&filter=colour:red", `there is no field \"colour\"`},
		{"url=" + front + "&filter=~url:(", "missing closing"},
		{"url=" + front + "&fl=url,colour", `there is no field \"colour\"`},
		{"url=" + front + "*&sort=reverse", "of the captures of one URI"},
	} {
		_, _, body := asks(t, s, "/cdx?"+strings.ReplaceAll(c.question, front, url.QueryEscape(front))+"&output=json")
		var hours []string
		for line := range strings.Lines(body) {
			var e struct{ Timestamp string }
			if json.Unmarshal([]byte(line), &e) == nil && len(e.Timestamp) == 14 {
				hours = append(hours, e.Timestamp[8:10])
			}
		}
		if got := strings.Join(hours, " "); got != c.want && !(got == "" && strings.Contains(body, c.want)) {
			t.Errorf("%s: the captures are of %q, want %q; %s", c.question, got, c.want, body)
		}
	}
}

// An answer has the forms of pywb: lines of an index, objects, or fields.
func TestFormsOfCaptures(t *testing.T) {
	t.Parallel()
	_, s := remoteArchive(t)
	q := "/cdx?limit=1&url=" + url.QueryEscape(front)
	status, h, body := asks(t, s, q)
	e, err := index.ParseEntry(strings.TrimSuffix(body, "\n"))
	if status != http.StatusOK || h.Get("Content-Type") != "text/x-cdxj; charset=utf-8" || err != nil || e.URL != front {
		t.Errorf("a line: %d %v %q, %v", status, h, body, err)
	}
	for _, form := range [][2]string{
		{"&output=text&fl=timestamp,original,statuscode", "20261121090000 " + front + " 200\n"},
		{"&output=json&fl=mime,filename", `{"mime": "text/html", "filename": "` + e.Filename + `"}` + "\n"},
		{"&fl=status", `example,news)/ 20261121090000 {"status": "200"}` + "\n"},
		{"&showNumPages=true&pageSize=2", `{"blocks":2,"pageSize":2,"pages":2}` + "\n"},
	} {
		if _, _, got := asks(t, s, q+form[0]); got != form[1] {
			t.Errorf("%s: %q, want %q", form[0], got, form[1])
		}
	}
}

// A client of the Memento protocol asks for a front page at a time, gets it as it was, and lists all versions.
func TestMementoLeadsToAVersion(t *testing.T) {
	t.Parallel()
	_, s := remoteArchive(t)
	status, h, _ := asks(t, s, "/timegate/"+front, "Accept-Datetime", "Sat, 21 Nov 2026 10:20:00 GMT")
	at := s.URL + "/memento/20261121100000/" + front
	if status != http.StatusFound || h.Get("Location") != at || h.Get("Vary") != "accept-datetime" ||
		!strings.Contains(h.Get("Link"), "<"+front+`>; rel="original"`) {
		t.Fatalf("the TimeGate: %d %v", status, h)
	}
	status, h, body := asks(t, s, strings.TrimPrefix(at, s.URL))
	if status != http.StatusOK || body != "<p>two" || h.Get("Memento-Datetime") != "Sat, 21 Nov 2026 10:00:00 GMT" ||
		h.Get("Set-Cookie") != "" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the memento: %d %v %q", status, h, body)
	}
	for _, c := range []struct {
		path, accept string
		status       int
		want         string // the address to which it leads, or the beginning of the answer
	}{
		{"/timegate/" + front, "", 302, "/memento/20261121110000/" + front},
		{"/timegate/" + front, "yesterday", 400, "want a date"},
		{"/timegate/" + front + "nothing", "", 404, "The archive has no capture of it."},
		{"/timegate/ftp://a.example/", "", 400, "begins with http"},
		{"/memento/20261121095500/" + front, "", 302, "/memento/20261121100000/" + front},
		{"/memento/2026id_/" + front, "", 302, "/memento/20261121090000/" + front},
		{"/memento/20261121090000id_/" + front, "", 200, "<p>one"},
		{"/memento//" + front, "", 400, "with a timestamp"},
		{"/memento/20261121120000/" + front + "moved", "", 301, "/memento/20261121120000/" + front + "article?a=b"},
		{"/memento/20261121120000/" + front + "article?a=b", "", 302, "/memento/20261121130000/" + front + "article?a=b"},
		{"/memento/20261121140000/" + front + "gone", "", 410, "<p>gone"},
		{"/timemap/link/" + front + "nothing", "", 404, "no capture"},
		{"/timemap/xml/" + front, "", 400, "/timemap/link/URI"},
	} {
		status, h, body := asks(t, s, c.path, "Accept-Datetime", c.accept)
		to := strings.TrimPrefix(h.Get("Location"), s.URL)
		if status != c.status || to != c.want && !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d, leads to %q, %s; want %d, %s", c.path, c.accept, status, to, body, c.status, c.want)
		}
	}
	_, h, body = asks(t, s, "/timemap/link/"+front)
	if h.Get("Content-Type") != "application/link-format" || strings.Count(body, `memento"; datetime=`) != 3 ||
		!strings.Contains(body, "<"+at+`>; rel="memento"; datetime="Sat, 21 Nov 2026 10:00:00 GMT"`) ||
		!strings.Contains(body, `rel="first memento"`) || !strings.Contains(body, `rel="last memento"`) {
		t.Errorf("the TimeMap: %v\n%s", h, body)
	}
}

// A list of more captures than fit in an answer has pages.
func TestLongListsHavePages(t *testing.T) {
	t.Parallel()
	w, s := remoteArchive(t)
	const page = "http://often.example/"
	for i := range maxCDX + 1 {
		archivetest.Must(t, w.live.Add(index.Entry{
			Key: uri.ReplayKey(page), URL: page,
			Timestamp: index.Stamp(archivetest.Start.Add(time.Duration(i)*time.Second), false), MIME: "text/html", Status: "200", Offset: int64(i), Filename: "often.warc.gz",
		}))
	}
	next := fmt.Sprintf("<%s/timemap/link/1/%s>; rel=\"timemap\"", s.URL, page)
	_, _, first := asks(t, s, "/timemap/link/"+page)
	if strings.Count(first, "; datetime=") != maxCDX || !strings.Contains(first, next) || strings.Contains(first, "last memento") {
		t.Errorf("the first page has %d mementos", strings.Count(first, "; datetime="))
	}
	_, _, second := asks(t, s, "/timemap/link/1/"+page)
	if strings.Count(second, "; datetime=") != 1 || !strings.Contains(second, "last memento") {
		t.Errorf("the second page is %s", second)
	}
	var list struct {
		Mementos struct{ First, Last, List any } `json:"mementos"`
		Maps     struct{ Next string }           `json:"timemap_uri"`
	}
	_, _, text := asks(t, s, "/timemap/json/"+page)
	archivetest.Must(t, json.Unmarshal([]byte(text), &list))
	if list.Mementos.First == nil || list.Mementos.Last != nil || list.Maps.Next != s.URL+"/timemap/json/1/"+page {
		t.Errorf("the first page as JSON begins with %.300s", text)
	}
	for at, want := range []int{maxCDX, 1} {
		_, _, lines := asks(t, s, fmt.Sprintf("/cdx?url=%s&page=%d", page, at))
		if n := strings.Count(lines, "\n"); n != want {
			t.Errorf("page %d of the CDX has %d lines, want %d", at, n, want)
		}
	}
	if _, _, lines := asks(t, s, "/cdx?sort=reverse&limit=1&url="+page); !strings.Contains(lines, `"offset":"10000"`) {
		t.Errorf("the newest is %s", lines)
	}
}

// Only programs with a token read the archive here. A browser does not, even if it sent one for an archived page.
func TestOnlyProgramsWithATokenReadTheArchive(t *testing.T) {
	t.Parallel()
	_, s := remoteArchive(t)
	basic := httptest.NewRequest(http.MethodGet, "/", nil)
	basic.SetBasicAuth("any", remoteSecret)
	for _, path := range []string{"/cdx?url=" + front, "/timegate/" + front, "/timemap/link/" + front, "/memento/20261121100000/" + front} {
		for _, c := range []struct {
			name, value string
			refused     int
		}{
			{"Authorization", "", 401},
			{"Authorization", "Bearer another-secret-of-sixteen", 401},
			{"Authorization", "Basic bm9ib2R5", 401},
			{"Authorization", basic.Header.Get("Authorization"), 0},
			{"Sec-Fetch-Site", "cross-site", 403},
			{"Sec-Fetch-Site", "same-origin", 403},
			{"Sec-Fetch-Site", "none", 403},
			{"Sec-Fetch-Mode", "cors", 0}, // Node
		} {
			status, h, body := asks(t, s, path, c.name, c.value)
			if c.refused != 0 && (status != c.refused || strings.Contains(body, front)) || c.refused == 0 && status >= 400 ||
				strings.Contains(h.Get("WWW-Authenticate"), "Basic") {
				t.Errorf("%s with %s %q: %d %v %s", path, c.name, c.value, status, h, body)
			}
		}
	}
}

// What is under an embargo is not there for a token that only reads.
func TestAnEmbargoHoldsForOtherPrograms(t *testing.T) {
	t.Parallel()
	w, s := remoteArchive(t)
	w.Series = "contracts"
	const page = "http://secret.example/"
	o := w.add(w.Page(page, archivetest.HTMLHead, "<p>not yet"), "text/html", 200)
	for _, path := range []string{
		"/cdx?url=" + page, "/timegate/" + page, "/timemap/link/" + page, "/memento/" + stamp(o) + "/" + page,
	} {
		if status, _, body := asks(t, s, path); status != http.StatusNotFound {
			t.Errorf("%s for who only reads: %d %s", path, status, body)
		}
		if status, _, body := asks(t, s, path, "Authorization", "Bearer "+curatorSecret); status >= 400 {
			t.Errorf("%s for a curator: %d %s", path, status, body)
		}
	}
}
