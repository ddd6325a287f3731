package curator

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestAnArchivedPageReadsOnlyWhatItShows plays a page whose script tries to read other captures: of its own host, of
// another one, of another time, and documents of another host that the page embeds.
func TestAnArchivedPageReadsOnlyWhatItShows(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	w := newArchived(t)
	p := w.player(engine(t), "maria")
	origin := serve(t, p)
	const here, there = "http://www.a.example/", "http://other.example/"
	const plain, data = "HTTP/1.1 200 OK\r\nContent-Type: text/plain", "HTTP/1.1 200 OK\r\nContent-Type: application/json"
	const hidden = "HIDDEN"
	for _, uri := range []string{here, here + "secret", there + "secret", there + "embedded", there + "style-of-a-document"} {
		w.add(w.Page(uri, htmlHead, "<!doctype html><p>"+hidden+"<p>{}p{--x:"+hidden+"}"), "text/html", 200)
	}
	w.add(w.Page(there+"data.json", data, `"`+hidden+`"`), "application/json", 200)
	w.add(w.Page(here+"embedded-here", plain, "embedded"), "text/plain", 200)
	w.add(w.Page(here+"api/latest.json", data, `"latest"`), "application/json", 200)
	w.add(w.Page(there+"permitted", plain+"\r\nAccess-Control-Allow-Origin: *", "permitted"), "text/plain", 200)
	text, err := os.ReadFile("testdata/read.html")
	archivetest.Must(t, err)
	at := stamp(w.add(w.Page(here, htmlHead, string(text)), "text/html", 200))
	var secrets atomic.Int64
	ticket := p.o.Tickets.Issue("maria", access.Curate, here, at, true, w.Now)
	d := framed(t, fmt.Sprintf("%s/open/%s/%s/%s", origin, ticket, at, here), &secrets)
	b := browser.Open(t, 300, 200)
	b.Go(d.URL + framedSignIn)
	var tries map[string]string
	archivetest.Must(t, json.Unmarshal([]byte(b.Frame(`window.tries`)(`window.tries`)), &tries))
	may := map[string]string{
		"may: what it embeds": "embedded", "may: what its script names": `"latest"`, "may: what another host permits": "permitted",
	}
	if len(tries) < 20 {
		t.Errorf("%d tries", len(tries))
	}
	for name, got := range tries {
		switch want := may[name]; {
		case want != "" && got != want:
			t.Errorf("%s: %q, want %q", name, got, want)
		case strings.Contains(got, hidden), strings.Contains(got, p.o.Tickets.WorkerKey()):
			t.Errorf("%s: read %q", name, got)
		}
	}
}

// TestALinkLeadsToAnotherVersion follows a link of an archived page: the frame says which page it is, and the dashboard
// opens it when the reader wants it.
func TestALinkLeadsToAnotherVersion(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	w := newArchived(t)
	p := w.player(engine(t), "maria")
	origin := serve(t, p)
	const page, next = "http://www.a.example/", "http://www.a.example/next?a=1&b=2"
	at := stamp(w.add(w.Page(page, htmlHead, `<!doctype html><a href="/next?a=1&amp;b=2">next</a>`), "text/html", 200))
	w.add(w.Page(next, htmlHead, "<p>next"), "text/html", 200)
	var secrets atomic.Int64
	ticket := p.o.Tickets.Issue("maria", access.Curate, page, at, true, w.Now)
	d := framed(t, fmt.Sprintf("%s/open/%s/%s/%s", origin, ticket, at, page), &secrets)
	b := browser.Open(t, 300, 200)
	b.Go(d.URL + framedSignIn)
	b.Eval(`void addEventListener("message", (e) => { if (e.data.view) window.asked = [e.origin, e.data.view, e.data.at].join(" ") })`)
	b.Frame(`document.links.length === 1`)(`document.links[0].click()`)
	b.Frame(`document.getElementById("uri")?.textContent === "` + next + `"`)(`document.querySelector("button").click()`)
	b.Wait(`window.asked`)
	if got, want := b.Eval(`window.asked`), fmt.Sprintf("%q", origin+" "+next+" "+at); got != want {
		t.Errorf("the dashboard is asked for %s, want %s", got, want)
	}
}

// TestNoPageShowsWhatIsWithheld asks whether pages show captures of other series, and what the crawl gets from another
// site with a secret.
func TestNoPageShowsWhatIsWithheld(t *testing.T) {
	t.Parallel()
	dir := hostFiles(t, map[string]string{
		"a":           "[seeds]\nuris = [\"https://www.a.example/\"]\n",
		"secret":      "host = \"secret.example\"\n[request]\nbasic = \"file:pw\"\n",
		"img.secret":  "host = \"img.secret.example\"\n[request]\nbasic = \"file:pw\"\n",
		"embargo":     "host = \"embargo.example\"\n[warc]\nseries = \"embargo\"\n",
		"img.embargo": "host = \"img.embargo.example\"\n[warc]\nseries = \"embargo\"\n",
		"contract":    "host = \"contract.example\"\n[warc]\nseries = \"contract\"\n",
	})
	main := strings.Replace(withoutSeeds, "[[wait]]", "[warc]\nseries_names = [\"embargo\", \"contract\"]\n[storage]\nsecrets = \"secrets\"\n[[wait]]", 1)
	archivetest.Must(t, os.Mkdir(dir+"/secrets", 0o700))
	archivetest.Must(t, os.WriteFile(dir+"/secrets/pw", []byte("anna:pw"), 0o600))
	archivetest.Must(t, os.WriteFile(dir+"/arcrawl.toml", []byte(main), 0o600))
	c, err := config.Load(dir + "/arcrawl.toml")
	archivetest.Must(t, err)
	const usual, embargo = "arcrawl-20261123090000000-00001-vm.warc.gz", "arcrawl-embargo-20261123090000000-00001-vm.warc.gz"
	for _, x := range []struct {
		page, inFile, shown, from string
		want                      bool
	}{
		{"https://www.a.example/", usual, "https://cdn.example/x.png", usual, true},
		{"https://www.a.example/", usual, "https://secret.example/x.png", usual, false},
		{"https://secret.example/", usual, "https://img.secret.example/x.png", usual, true},
		{"https://secret.example/", usual, "https://cdn.example/x.png", usual, true},
		{"https://www.a.example/", usual, "https://embargo.example/x.png", embargo, false},
		{"https://www.a.example/", usual, "https://www.a.example/x.png", embargo, false}, // its host was under an embargo
		{"https://www.a.example/", usual, "https://embargo.example/x.png", usual, false}, // its host is under one now
		{"https://embargo.example/", embargo, "https://img.embargo.example/x.png", embargo + ".open", true},
		{"https://embargo.example/", embargo, "https://cdn.example/x.png", usual, true},
		{"https://contract.example/", usual, "https://embargo.example/x.png", embargo, false},
	} {
		page := index.Entry{URL: x.page, Filename: x.inFile, MIME: "text/html"}
		if got := permits(c, page, index.Entry{URL: x.shown, Filename: x.from, MIME: "image/png"}, time.Now()); got != x.want {
			t.Errorf("%s in %s shows %s in %s: %t, want %t", x.page, x.inFile, x.shown, x.from, got, x.want)
		}
	}
}
