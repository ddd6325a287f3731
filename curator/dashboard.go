package curator

import (
	"embed"
	"io/fs"

	"github.com/arcrawl/arcrawl/admin"
)

// files holds the scripts of the pages for curators.
//
//go:embed dashboard
var files embed.FS

// pages returns what the wing adds to the dashboard. The page What is new is its first page.
func pages() admin.Pages {
	scripts, err := fs.Sub(files, "dashboard")
	if err != nil {
		return admin.Pages{} // cannot happen: the folder is embedded
	}
	return admin.Pages{
		Files: scripts, Script: "curator.js",
		Head: `<link rel="alternate" type="application/atom+xml" href="feed.atom" title="New captures">` + "\n",
		Menu: []admin.Entry{
			{Page: "", Title: "What is new", Before: "hosts"},
			{Page: "fronts", Title: "Front pages", Before: "hosts"},
			{Page: "capture", Title: "Capture", Before: "operations", Needs: "curate"},
			{Page: "packages", Title: "Packages", Before: "operations"},
		},
	}
}
