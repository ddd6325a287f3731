package reports

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// recorded serves the dashboard with recorded answers of the API.
type recorded struct {
	pages   http.Handler
	answers map[string][]byte // by path and query
	now     time.Time
}

func (r *recorded) ServeHTTP(to http.ResponseWriter, from *http.Request) {
	to.Header().Set("Date", r.now.UTC().Format(http.TimeFormat))
	if !strings.HasPrefix(from.URL.Path, api.Base) {
		r.pages.ServeHTTP(to, from)
		return
	}
	answer, ok := r.answers[from.URL.Path+"?"+from.URL.Query().Encode()]
	if !ok {
		to.WriteHeader(http.StatusNotFound)
	}
	_, _ = to.Write(answer)
}

// home is the URI of the front page, as part of a query.
const home = "http%3A%2F%2Fnews.example%2F"

// hostileTitle has a script, marks that change the direction of text, and many characters.
var hostileTitle = "<script>document.title='taken'</script>\u202Eevil\u2066 " + strings.Repeat("long ", 30)

// aDayOfNews crawls a front page that changes every second hour, and a host that is down.
func aDayOfNews(t *testing.T) *recorded {
	t.Helper()
	dir := t.TempDir()
	r := &recorded{pages: admin.Dashboard(new(reporter).extension()), answers: map[string][]byte{}}
	synctest.Test(t, func(t *testing.T) {
		toml := "[dedup]\nmin_size = \"0B\"\n" + testcrawl.EveryHour + // the pages are small
			"about = [{ uri = \"http://news.example/\", title = \"The <i>news\", note = \"<b>ask</b> first\" }]\n"
		w := newWorld(t, dir, strings.Replace(toml, "uris = [", "uris = [\"http://down.example/\", ", 1))
		defer w.Close()
		w.Set("http://news.example/", testcrawl.Page{Every: 2 * time.Hour})
		for range 3 {
			w.Must(w.Parts.Reputation.AddDate("news.example", evaluators.DatedPages, true))
		}
		w.Run(24*time.Hour - time.Minute)
		handler := w.window.Handler(access.Options{})
		for _, q := range []string{
			"status?", "names?", "me?", "hosts/news.example?", "hosts/news.example/queue?limit=20", "traps?host=news.example",
			"hosts/down.example?", "hosts/down.example/queue?limit=20", "traps?host=down.example",
			"reports/days?days=92&host=news.example", "reports/days?days=92&host=down.example", "reports/headers?",
			"reports/days?brief=true&days=92", "reports/days?brief=true&days=7", "reports/dedup?", "reports/dedup?all=true",
			"uri?uri=" + home, "history?uri=" + home, "why?uri=" + home,
		} {
			got := httptest.NewRecorder()
			handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, api.Base+"/"+strings.TrimSuffix(q, "?"), http.NoBody))
			if got.Code != http.StatusOK {
				w.Fatalf("%s: %d %s", q, got.Code, got.Body)
			}
			r.answers[api.Base+"/"+q] = got.Body.Bytes()
		}
		r.now = time.Now()
	})
	return r
}

// show opens a page of the dashboard, and returns its text.
func show(t *testing.T, p *browser.Page, site *httptest.Server, address string) string {
	t.Helper()
	p.Go("about:blank")
	p.Go(site.URL + "/#/" + address)
	p.Wait(`document.getElementById("view").dataset.ready === ` + strconv.Quote(address))
	text, err := strconv.Unquote(p.Eval(`document.body.innerText`))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTheReportsInABrowser opens the pages as an operator does and checks what they show. It saves screenshots in the
// folder that ARCRAWL_SCREENSHOTS names.
func TestTheReportsInABrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	site := httptest.NewServer(aDayOfNews(t))
	t.Cleanup(site.Close)
	p := browser.Open(t, 1280, 1500)
	for address, want := range map[string][]string{
		"host/news.example": {"Versions by day", "Requests and changes by day and week", "Reliability of headers"},
		"host/down.example": {"Unreachable", "Reliability of headers"},
		"uri?u=" + home:     {"as a seed", "Visits", "new version", "unchanged", "All visits in a table"},
		"days":              {"Captured versions", "news.example", "Not known yet of all sites"},
		"headers":           {"Reliability of headers", "Reliability of dates in feeds and sitemaps", "pages"},
		"dedup":             {"Duplicates", "news.example", "text/html"},
		"dedup?all=true":    {"Duplicates", "news.example", "text/html"},
	} {
		text := show(t, p, site, address)
		for _, want := range want {
			if !strings.Contains(text, want) {
				t.Errorf("the page %q lacks the text %q:\n%s", address, want, text)
			}
		}
		if strings.Contains(text, "Error") || strings.Contains(text, "undefined") || strings.Contains(text, "NaN") {
			t.Errorf("the page %q shows a fault:\n%s", address, text)
		}
		entries := map[string]string{"host/news.example": "Sites", "host/down.example": "Sites", "uri?u=" + home: "Pages", "days": "Reports"}
		if got, want := p.Eval(`document.querySelector("header nav a[aria-current]").textContent`), cmp.Or(entries[address], "Operations"); got != strconv.Quote(want) {
			t.Errorf("the page %q belongs to the entry %s of the menu, want %s", address, got, want)
		}
		browser.Keep(t, "light-"+address, p.Screenshot())
	}
	show(t, p, site, "host/news.example")
	if got := p.Eval(`[...document.querySelectorAll("svg.heat text")].map((e) => e.textContent).join(" ")`); !strings.Contains(got, "Mon Tue Wed") || !strings.Contains(got, "Dec") {
		t.Errorf("the calendar of versions says %s, want weekdays and months", got)
	}
	show(t, p, site, "uri?u="+home)
	if got := p.Eval(`document.querySelectorAll("svg.timeline rect.k1").length + " " + document.querySelectorAll("svg.timeline rect.k3").length`); got != `"12 12"` {
		t.Errorf("the timeline has %s versions and unchanged visits, want 12 of each", got)
	}
}

// TestEveryReportIsAccessibleAndAloneInBothThemes lets axe-core look at each page, in both themes, on a wide and a
// narrow screen. Titles and texts are hostile. No page asks another server, and no text becomes a script.
func TestEveryReportIsAccessibleAndAloneInBothThemes(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	answers := aDayOfNews(t)
	kept := thirteenWeeks(answers.now, "news.example")
	for _, query := range []string{"brief=true&days=92", "brief=true&days=7", "days=92&host=news.example"} {
		answers.answers[api.Base+"/reports/days?"+query] = kept
	}
	answers.answers[api.Base+"/me?"] = []byte(`{"name": "maria.the.curator@library.example", "role": "curate", "way": "session"}`)
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
			for _, page := range []string{"host/news.example", "uri?u=" + home, "days", "headers", "dedup"} {
				show(t, p, site, page)
				text := p.Check(axe, rules, page)
				if page == "days" && p.Eval(`document.querySelector("[aria-label='The last 13 weeks'] tbody").rows.length`) != "13" {
					t.Errorf("the page %q does not have 13 weeks:\n%s", page, text)
				}
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

// thirteenWeeks returns the answer about the days of a host that is visited since long.
func thirteenWeeks(now time.Time, host string) []byte {
	r := api.DayReport{
		Hosts: []api.DayRow{{Host: host, Requests: 9000, Seen: 2000, Versions: 2400, Low: 0.8, High: 0.9, Each: 4.5}},
		Pace:  []api.HostPace{{Host: host, Promise: "captures about 80 % of versions; " + hostileTitle, Share: 0.8, Lost: 4}},
	}
	for day := range hosts.MaxDays {
		date := now.UTC().AddDate(0, 0, day+1-hosts.MaxDays).Format(time.DateOnly)
		r.Days = append(r.Days, api.DayRow{Day: date, Requests: 100, Seen: 10 + day, Versions: 20 + float64(day), Each: 10})
	}
	for week := range 13 {
		date := now.UTC().AddDate(0, 0, 7*(week-12)).Format(time.DateOnly)
		r.Weeks = append(r.Weeks, api.DayRow{Day: date, Requests: 700, Seen: 7 * (10 + week), Versions: 300, Each: 10})
	}
	text, _ := json.Marshal(r) // numbers and texts only
	return text
}
