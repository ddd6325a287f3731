package admin

import (
	"embed"
	"io/fs"
	"net/http"
	"unicode/utf8"
)

// files holds the dashboard: pages, scripts, styles, and uPlot for the charts. It loads nothing from other servers.
//
//go:embed dashboard
var files embed.FS

// dashboard returns the handler of the dashboard.
func dashboard() http.Handler {
	pages, err := fs.Sub(files, "dashboard")
	if err != nil {
		return http.NotFoundHandler() // cannot happen: the folder is embedded
	}
	served := http.FileServerFS(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !utf8.ValidString(r.URL.Path) { // no file has such a name, and the file server would answer 500
			http.NotFound(w, r)
			return
		}
		served.ServeHTTP(w, r)
	})
}
