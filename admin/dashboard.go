package admin

import (
	"embed"
	"io/fs"
	"net/http"
)

// files is the dashboard: pages, scripts and styles, and uPlot, which draws its charts. Nothing comes from elsewhere.
//
//go:embed dashboard
var files embed.FS

// dashboard serves the pages for a browser.
func dashboard() http.Handler {
	pages, err := fs.Sub(files, "dashboard")
	if err != nil {
		return http.NotFoundHandler() // the folder is embedded; there is none without it
	}
	return http.FileServerFS(pages)
}
