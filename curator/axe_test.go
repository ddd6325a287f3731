package curator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// hostileTitle has a script, marks that change the direction of text, and many characters.
var hostileTitle = "<script>document.title='taken'</script>\u202Eevil\u2066 " + strings.Repeat("long ", 30)

// hostileVersions archives versions of the front page of news.example: two pages with hostile titles and text, a
// revisit, and two pictures. It returns what finds them.
func hostileVersions(t *testing.T) (*index.Live, []string) {
	t.Helper()
	a := newArchived(t)
	var stamps []string
	add := func(o digest.Origin, mime string) digest.Origin {
		stamps = append(stamps, stamp(o))
		return a.add(o, mime, http.StatusOK)
	}
	head := archivetest.HTMLHead + "\r\nX-Hostile: \u202E<img src=//evil.example/x onerror=\"document.title='taken'\">\x00\xff"
	text := func(n string) string {
		return "<title>" + hostileTitle + "</title><p>clock " + n + "</p><p>" + hostileTitle + "</p><p>" + n + "\xff\x00</p>" + strings.Repeat("y", 64<<10)
	}
	first := add(a.Page("http://news.example/", head, text("one")), "text/html")
	add(a.Page("http://news.example/", head, text("two")), "text/html")
	add(a.Revisit("http://news.example/", head, first), index.RevisitMIME)
	return a.live, stamps
}

// everyPage crawls a day of news with hostile titles and returns the answers of the API for every page, and the
// addresses of the pages.
func everyPage(t *testing.T) (r *recorded, pages []string) {
	t.Helper()
	r = newRecorded()
	archive, stamps := hostileVersions(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		toml := strings.Replace(everyHour, "uris = [", "uris = [\"http://down.example/\", ", 1) +
			"about = [{ uri = \"http://news.example/\", title = \"The <i>news\", labels = [\"newspapers\"], collections = [\"daily\"], owner = \"maria\", note = \"<b>ask</b> first\" }]\n"
		w := newWorld(t, dir, toml)
		w.shows(archive)
		defer w.Close()
		files := w.window.Options().Config().Config.Admin
		w.Must(access.AddUser(files.UserFile, "maria", access.Curate, "correct horse battery"))
		w.Must(access.AddUser(files.UserFile, "jan", access.Operate, ""))
		_, err := access.Add(files.TokenFile, "grafana", access.Read)
		w.Must(err)
		w.Trap("http://news.example/calendar/2031/07/x/x/x/")
		w.Set("http://news.example/", testcrawl.Page{Clock: true, Body: "<title>" + hostileTitle + "</title><p>news</p>"})
		w.Run(24*time.Hour - time.Minute)
		home := url.QueryEscape("http://news.example/")
		both := "compare?at=" + stamps[1] + "&before=" + stamps[0] + "&uri=" + home
		r.record(w, "status?", "names?", "new?", "new?limit=1", "new?limit=200&type=text%2Fhtml", "series?span=1d", "hosts?limit=10&sort=overdue&state=overdue",
			"hosts?limit=10&sort=failures&state=down", "hosts?limit=50&offset=0&q=&sort=overdue&state=", "overdue?by=host&latest=true",
			"hosts/news.example?", "hosts/news.example/queue?limit=20", "hosts/news.example/site?", "traps?host=news.example",
			"config?", "packages?", "fronts?", "fronts/day?day=2026-11-21&uri="+home, "me?", "users?", "audit?limit=50",
			"search?cursor=&host=&limit=100&q=news", "edit/files?", "edit/file?host=news.example", "edit/file?name=", "uri?uri="+home, "why?uri="+home,
			"versions?uri="+home, "new?change=any&limit=100&uri="+home, "view?at="+stamps[1]+"&uri="+home, "record?at="+stamps[2]+"&uri="+home,
			both+"&what=text", both+"&what=source", both+"&what=headers")
		r.answers[api.Base+"/me?"] = []byte(`{"name": "maria.the.curator@library.example", "role": "curate", "way": "session"}`)
		list, err := json.Marshal(SeedList{Text: "uri,label,note\nhttp://new.example/,newspapers," + hostileTitle + "\nnot a uri,x,y\n"})
		w.Must(err)
		r.posts[api.Base+"/seeds/plan"] = w.serve(http.MethodPost, api.Base+"/seeds/plan", string(list))
		compare := "compare?u=" + home + "&before=" + stamps[0] + "&at=" + stamps[1]
		pages = []string{
			"", "operations", "hosts", "host/news.example", "uri", "uri?u=" + home, "uri?q=news", "view?u=" + home + "&at=" + stamps[1],
			compare, compare + "&as=inline&what=source", compare + "&what=headers", "record?u=" + home + "&at=" + stamps[2],
			"capture", "import", "fronts", "front?u=" + home + "&at=" + stamps[1], "packages", "packages?u=" + home, "config", "edit", "edit?host=news.example", "many", "main", "users",
		}
	})
	return r, pages
}

// TestEveryPageIsAccessibleAndAloneInBothThemes lets axe-core look at each page of the dashboard, in both themes, on a
// wide and a narrow screen. Titles and texts are hostile. No page asks another server, and no text becomes a script.
func TestEveryPageIsAccessibleAndAloneInBothThemes(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	answers, pages := everyPage(t)
	for file, table := range map[string]string{
		"../admin/dashboard/app.js": `(?m)^const pages = \{(.*), \.\.\.added\.pages \};$`,
		"dashboard/curator.js":      `(?m)^ *pages: \{(.*)\},$`,
	} {
		for _, name := range pagesIn(t, file, table) {
			if !slices.ContainsFunc(pages, func(p string) bool {
				return p == name || strings.HasPrefix(p, name+"?") || strings.HasPrefix(p, name+"/")
			}) {
				t.Errorf("the page %s of %s is not looked at: add it to everyPage", name, file)
			}
		}
	}
	site := httptest.NewServer(answers)
	t.Cleanup(site.Close)
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) {
			t.Parallel()
			p := browser.Open(t, 1280, 900)
			rules := "{}"
			if theme == "dark" { // all other rules look at what the themes have in common
				rules = `{runOnly: ["color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block"]}`
				p.Dark()
				p.Resize(390, 800)
			}
			for _, page := range pages {
				lookAt(t, p, axe, rules, site.URL+"/#/"+page, page)
				browser.Keep(t, theme+"-"+page, p.Screenshot())
			}
			for _, host := range p.Requests() {
				if host != strings.TrimPrefix(site.URL, "http://") {
					t.Errorf("the browser asked %s", host)
				}
			}
		})
	}
}

// pagesIn returns the names of the pages in the table of a script.
func pagesIn(t *testing.T, file, table string) (names []string) {
	t.Helper()
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(table).FindSubmatch(script)
	if found == nil {
		t.Fatalf("%s has no table of pages", file)
	}
	for entry := range strings.SplitSeq(string(found[1]), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(entry), ":")
		names = append(names, strings.Trim(name, "' "))
	}
	return names
}

// lookAt opens a page and reports what axe-core finds in it.
func lookAt(t *testing.T, p *browser.Page, axe, rules, address, page string) {
	t.Helper()
	p.Go("about:blank")
	p.Go(address)
	p.Wait(`document.getElementById("view").dataset.ready === ` + strconv.Quote(map[bool]string{true: "new", false: page}[page == ""]))
	if page == "import" {
		p.Eval(`(() => { const a = document.querySelector("textarea"); a.value = "x"; a.dispatchEvent(new Event("input")); a.form.requestSubmit() })()`)
		p.Says("What would change")
	}
	text := p.Check(axe, rules, page)
	mechanical, _, _ := strings.Cut(page, "?") // pages that show files and records as they are
	if !slices.Contains([]string{"record", "edit", "many", "main"}, mechanical) {
		for _, word := range []string{"snoozed", "payload", "Hosts"} {
			if strings.Contains(text, word) {
				t.Errorf("the page %q says %q; docs/glossary.md has the word of screens:\n%.3000s", page, word, text)
			}
		}
		if got := p.Eval(`document.querySelectorAll("main .primary").length`); got != "0" && got != "1" {
			t.Errorf("the page %q has %s primary buttons, want one at most", page, got)
		}
	}
	if strings.HasPrefix(page, "compare") && !strings.Contains(page, "what=headers") && p.Eval(`document.querySelectorAll("td.del, td.ins").length > 1`) != "true" {
		t.Errorf("the page %q shows no difference:\n%.3000s", page, text)
	}
}
