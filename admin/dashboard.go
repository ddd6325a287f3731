package admin

import (
	"embed"
	"io/fs"
	"net/http"
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
	return http.FileServerFS(pages)
}
