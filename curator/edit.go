package curator

import (
	"net/http"
	"path/filepath"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// editRoutes returns the requests that edit files of the configuration, whose texts may have cookies.
func (c *curation) editRoutes() []admin.Route {
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/edit/files", Needs: access.Curate, Answer: EditFiles{},
			Doc:   "Returns the names of the host files.",
			Serve: editing(func(w editor, _ *http.Request) (any, error) { return w.List() }),
		},
		{
			Method: "GET", Path: api.Base + "/edit/file", Needs: access.Curate, Answer: EditFile{},
			Doc: "Returns a file of the configuration as it is on disk. The main file needs the role operate.",
			Params: []admin.Param{
				{Name: "name", Kind: "string", Doc: "name of a host file, without folder; absent for the main file"},
				{Name: "host", Kind: "string", Doc: "instead of a name: the file of this host, or a template if it has none"},
			},
			Serve: editing(func(w editor, r *http.Request) (any, error) {
				return w.Open(r.FormValue("name"), r.FormValue("host"))
			}),
		},
		{
			Method: "POST", Path: api.Base + "/edit/plan", Asks: true, Heavy: true, Needs: access.Curate,
			Doc:  "Returns the faults of a new text of a file, its difference, and its effect on the crawl. It writes nothing.",
			Body: EditOrder{}, Answer: EditPlan{},
			Serve: ordered(func(w editor, o EditOrder) (any, error) { return w.Plan(o) }),
		},
		{
			Method: "POST", Path: api.Base + "/edit/save", Private: true, Heavy: true, Needs: access.Curate,
			Doc:  "Writes a new text of a file, if the file is as it was and the text has no faults.",
			Body: EditOrder{}, Answer: EditSaved{},
			Serve: ordered(func(w editor, o EditOrder) (any, error) { return w.Save(o) }),
		},
		{
			Method: "POST", Path: api.Base + "/edit/many/plan", Asks: true, Heavy: true, Needs: access.Curate,
			Doc:  "Returns what other settings in several host files would change. It writes nothing.",
			Body: ManyOrder{}, Answer: ManyPlan{},
			Serve: ordered(func(w editor, o ManyOrder) (any, error) { return w.PlanMany(o) }),
		},
		{
			Method: "POST", Path: api.Base + "/edit/many/save", Heavy: true, Needs: access.Curate,
			Doc:  "Writes settings into several host files, if these are as they were and the result has no faults. The old files are stored for seeds/undo.",
			Body: ManyOrder{}, Answer: ManyPlan{},
			Serve: ordered(func(w editor, o ManyOrder) (any, error) { return w.SaveMany(o) }),
		},
	}
}

// ordered returns the function that serves a request to plan or to write a change.
func ordered[O any](do func(editor, O) (any, error)) func(*admin.Window, *http.Request) (any, error) {
	return editing(func(w editor, r *http.Request) (any, error) {
		o, err := admin.Read[O](r)
		if err != nil {
			return nil, err
		}
		return do(w, o)
	})
}

// editing returns the function that serves a request about a file.
func editing(do func(editor, *http.Request) (any, error)) func(*admin.Window, *http.Request) (any, error) {
	return func(w *admin.Window, r *http.Request) (any, error) {
		o := w.Options()
		effect := func(s whatif.Staged) (whatif.Plan, error) { return o.Crawler.Plan(s, o.Now()) }
		return do(editor{
			Config: o.Config().Config, Known: o.Config().Warnings, Effect: effect, Writing: w.WritingFiles(), Now: o.Now(),
			Who: access.CallerOf(r.Context()),
			Commit: func(what string, files ...string) api.Committed {
				names := make([]string, len(files))
				for i, f := range files {
					names[i] = filepath.Base(f)
				}
				return w.Commit(r, filepath.Dir(files[0]), what, names...)
			},
		}, r)
	}
}
