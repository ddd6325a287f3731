package admin

import (
	"embed"
	"html"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

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
		name := html.EscapeString(e.Page)
		entry := `<a href="#/` + name + `" data-page="` + name + `">` + html.EscapeString(e.Title) + "</a>\n    "
		next := `<a href="#/` + e.Before + `" `
		text = strings.Replace(text, next, entry+next, 1)
	}
	return []byte(text)
}
