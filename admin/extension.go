package admin

import (
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
)

// Extension holds what a wing adds to the API and the dashboard of a running crawl. A function that is nil adds
// nothing. The window calls its functions like its own methods of the same name.
type Extension struct {
	// Routes are further requests of the API.
	Routes []Route
	// OpenAPI describes the routes: a document whose paths and schemas are added to the one of the core; "" for none.
	OpenAPI string
	// Handlers answer requests outside the API. The keys are patterns of [http.ServeMux].
	Handlers map[string]http.HandlerFunc
	// Pages are added to the dashboard.
	Pages Pages
	// Wrap returns a handler that serves some requests before [http.ServeMux] cleans their paths, and passes the others
	// on.
	Wrap func(next http.Handler) http.Handler
	// Frames returns the origin whose pages a page of the dashboard may show in frames, or "".
	Frames func(r *http.Request) string
	// Open is called once, before all other functions and before any request.
	Open func(w *Window) error
	// Observe is called with each settled visit, by many goroutines. It does not block.
	Observe func(r crawler.Report)
	// Ordered is called with the URIs that somebody has ordered to be visited now.
	Ordered func(uris []string)
	// EachCapture calls use with the captures after a given time, newest first. from is the time before which captures are
	// not known any more; zero if all are.
	EachCapture func(since time.Time, use func(api.Capture)) (from time.Time)
	// Changes returns the changes of pages that a subscription selects, and that were noted after a time, the one noted
	// first first: about most. All that were noted up to upTo have been searched. With the zero time, the list is empty
	// and upTo is when the last one was noted.
	Changes func(s config.Subscription, after time.Time, most int) (list []api.Capture, upTo time.Time)
	// Troubles returns troubles of this moment, which alarms are made of.
	Troubles func() []alarm.Trouble
	// Alarms is called with the alarms that were raised and cleared at one moment. It does not wait for a network. After a
	// crash it may be called with the same changes again.
	Alarms func(changes []alarm.Change, now time.Time)
	// Status adds to the state of the crawl.
	Status func(s *api.Status)
	// Tick is called a few times a minute, by one goroutine.
	Tick func(now time.Time)
	// Close is called once, when nothing else is called any more.
	Close func(now time.Time) error
}

// EachCapture calls use with the captures after a given time, newest first, if a wing knows them. from is the time
// before which captures are not known any more; zero if all are.
func (w *Window) EachCapture(since time.Time, use func(api.Capture)) (from time.Time) {
	for _, added := range w.o.Extensions {
		if added.EachCapture != nil {
			return added.EachCapture(since, use)
		}
	}
	return from
}

// Changes returns the changes of pages that a subscription selects, as [Extension].Changes does, if a wing knows them.
func (w *Window) Changes(s config.Subscription, after time.Time, most int) (list []api.Capture, upTo time.Time) {
	for _, added := range w.o.Extensions {
		if added.Changes != nil {
			return added.Changes(s, after, most)
		}
	}
	return nil, after
}

// frames returns the origin whose pages a page of the dashboard may show in frames, or "".
func (w *Window) frames(r *http.Request) string {
	for _, added := range w.o.Extensions {
		if added.Frames != nil {
			return added.Frames(r)
		}
	}
	return ""
}

// files holds the dashboard: pages, scripts, styles, and uPlot for the charts. It loads nothing from other servers.
//
//go:embed dashboard
var files embed.FS

// Pages holds what a wing adds to the dashboard. No name or text in it comes from a stranger.
type Pages struct {
	// Files has scripts, which are served next to the scripts of the core. No two files have the same name.
	Files fs.FS
	// Script is the file that registers the pages in the browser, see dashboard/register.js.
	Script string
	// Menu are entries in the navigation.
	Menu []Entry
	// Head is HTML for the head of the dashboard.
	Head string
}

// Entry is an entry in the navigation of the dashboard.
type Entry struct {
	Page   string // its name in the address
	Title  string
	Before string // the page whose entry it precedes
	Needs  string // the role that sees it; "" = all
}

// Places in index.html where wings add something.
const (
	endOfHead   = "</head>"
	firstScript = `<script src="app.js" type="module"></script>`
)

// Dashboard returns the handler of the dashboard with the pages that wings add.
func Dashboard(added ...Extension) http.Handler {
	core, err := fs.Sub(files, "dashboard")
	index, errIndex := files.ReadFile("dashboard/index.html")
	if err != nil || errIndex != nil {
		return http.NotFoundHandler() // cannot happen: the files are embedded
	}
	folders := []fs.FS{core}
	for _, a := range added {
		if a.Pages.Files != nil {
			folders = append(folders, a.Pages.Files)
			index = a.Pages.in(index)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		switch {
		case !utf8.ValidString(name): // no file has such a name, and the file server would answer 500
			http.NotFound(w, r)
			return
		case name == "":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(index)
			return
		}
		from := slices.IndexFunc(folders, func(f fs.FS) bool { _, err := fs.Stat(f, name); return err == nil })
		http.FileServerFS(folders[max(from, 0)]).ServeHTTP(w, r)
	})
}

// in adds the pages to the text of index.html.
func (p Pages) in(index []byte) []byte {
	text := string(index)
	text = strings.Replace(text, endOfHead, p.Head+endOfHead, 1)
	script := `<script src="` + p.Script + `" type="module"></script>` + "\n"
	text = strings.Replace(text, firstScript, script+firstScript, 1)
	for _, e := range p.Menu {
		name, needs := html.EscapeString(e.Page), ""
		if e.Needs != "" {
			needs = ` data-needs="` + html.EscapeString(e.Needs) + `"`
		}
		entry := `<a href="#/` + name + `" data-page="` + name + `"` + needs + `>` + html.EscapeString(e.Title) + "</a>\n    "
		next := `<a href="#/` + e.Before + `" `
		text = strings.Replace(text, next, entry+next, 1)
	}
	return []byte(text)
}

// openAPI is the OpenAPI document of the API without wings.
//
//go:embed openapi.json
var openAPI string

// document holds what the document of a wing adds to the one of the core.
type document struct {
	Paths      map[string]any `json:"paths"`
	Components struct {
		Schemas map[string]any `json:"schemas"`
	} `json:"components"`
}

// OpenAPI returns the OpenAPI document of the API with what wings add.
func OpenAPI(added ...Extension) ([]byte, error) {
	var whole map[string]any
	if err := json.Unmarshal([]byte(openAPI), &whole); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	paths, _ := whole["paths"].(map[string]any)
	components, _ := whole["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for _, a := range added {
		if a.OpenAPI == "" {
			continue
		}
		var more document
		if err := json.Unmarshal([]byte(a.OpenAPI), &more); err != nil {
			return nil, fmt.Errorf("read the OpenAPI document of a wing: %w", err)
		}
		for path, methods := range more.Paths { // two wings may have methods of one path
			if known, ok := paths[path].(map[string]any); ok {
				own, _ := methods.(map[string]any)
				maps.Copy(known, own)
			} else {
				paths[path] = methods
			}
		}
		maps.Copy(schemas, more.Components.Schemas)
	}
	return json.MarshalIndent(whole, "", "  ")
}

// serveOpenAPI serves the OpenAPI document.
func (w *Window) serveOpenAPI(to http.ResponseWriter, from *http.Request) {
	text, err := OpenAPI(w.o.Extensions...)
	if err != nil {
		w.Refuse(to, from, err)
		return
	}
	to.Header().Set("Content-Type", "application/json")
	_, _ = to.Write(append(text, '\n'))
}
