package admin

import (
	"errors"
	"net/http"
	"path/filepath"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/curator/commit"
	"github.com/arcrawl/arcrawl/curator/edit"
)

// editRoutes returns the requests that edit files of the configuration, whose texts may have cookies.
func editRoutes() []route {
	return []route{
		{
			method: "GET", path: api.Base + "/edit/files", needs: access.Curate, answer: api.EditFiles{},
			doc:   "Returns the names of the host files.",
			serve: editing(func(w edit.Work, _ *http.Request) (any, error) { return w.List() }),
		},
		{
			method: "GET", path: api.Base + "/edit/file", needs: access.Curate, answer: api.EditFile{},
			doc: "Returns a file of the configuration as it is on disk. The main file needs the role operate.",
			params: []param{
				{"name", "string", "name of a host file, without folder; absent for the main file"},
				{"host", "string", "instead of a name: the file of this host, or a template if it has none"},
			},
			serve: editing(func(w edit.Work, r *http.Request) (any, error) {
				return w.Open(r.FormValue("name"), r.FormValue("host"))
			}),
		},
		{
			method: "POST", path: api.Base + "/edit/plan", asks: true, heavy: true, needs: access.Curate,
			doc:  "Returns the faults of a new text of a file, its difference, and its effect on the crawl. It writes nothing.",
			body: api.EditOrder{}, answer: api.EditPlan{},
			serve: ordered(func(w edit.Work, o api.EditOrder) (any, error) { return w.Plan(o) }),
		},
		{
			method: "POST", path: api.Base + "/edit/save", private: true, heavy: true, needs: access.Curate,
			doc:  "Writes a new text of a file, if the file is as it was and the text has no faults.",
			body: api.EditOrder{}, answer: api.EditSaved{},
			serve: ordered(func(w edit.Work, o api.EditOrder) (any, error) { return w.Save(o) }),
		},
		{
			method: "POST", path: api.Base + "/edit/many/plan", asks: true, heavy: true, needs: access.Curate,
			doc:  "Returns what other settings in several host files would change. It writes nothing.",
			body: api.ManyOrder{}, answer: api.ManyPlan{},
			serve: ordered(func(w edit.Work, o api.ManyOrder) (any, error) { return w.PlanMany(o) }),
		},
		{
			method: "POST", path: api.Base + "/edit/many/save", heavy: true, needs: access.Curate,
			doc:  "Writes settings into several host files, if these are as they were and the result has no faults. The old files are stored for seeds/undo.",
			body: api.ManyOrder{}, answer: api.ManyPlan{},
			serve: ordered(func(w edit.Work, o api.ManyOrder) (any, error) { return w.SaveMany(o) }),
		},
	}
}

// ordered returns the function that serves a request to plan or to write a change.
func ordered[O any](do func(edit.Work, O) (any, error)) func(*Window, *http.Request) (any, error) {
	return editing(func(w edit.Work, r *http.Request) (any, error) {
		o, err := read[O](r)
		if err != nil {
			return nil, err
		}
		return do(w, o)
	})
}

// commit commits files of a folder, if the configuration wants it. The caller has held w.importing since before it
// wrote them. A failure leaves the change of the files in force.
func (w *Window) commit(r *http.Request, dir, what string, files ...string) (out api.Committed) {
	if !w.o.Config().Config.Admin.Git {
		return out
	}
	name, err := commit.Make(r.Context(), commit.Change{
		Dir: dir, Files: files, Who: access.CallerOf(r.Context()).Name, What: what,
	})
	if err != nil {
		w.o.Log.Warn().Err(err).Str("folder", dir).Strs("files", files).
			Msg("could not commit a change of files; it stays in force")
		out.Problem = err.Error()
	}
	out.Commit = name
	return out
}

// editing returns the function that serves a request about a file.
func editing(do func(edit.Work, *http.Request) (any, error)) func(*Window, *http.Request) (any, error) {
	return func(w *Window, r *http.Request) (any, error) {
		effect := func(s whatif.Staged) (whatif.Plan, error) { return w.o.Crawler.Plan(s, w.o.Now()) }
		answer, err := do(edit.Work{
			Config: w.o.Config().Config, Known: w.o.Config().Warnings, Effect: effect, Writing: &w.importing, Now: w.o.Now(),
			Who: access.CallerOf(r.Context()),
			Commit: func(what string, files ...string) api.Committed {
				names := make([]string, len(files))
				for i, f := range files {
					names[i] = filepath.Base(f)
				}
				return w.commit(r, filepath.Dir(files[0]), what, names...)
			},
		}, r)
		var refusal edit.Refusal
		switch {
		case errors.Is(err, edit.ErrRole):
			return nil, errors.Join(errRole, err)
		case errors.As(err, &refusal):
			return nil, badRequest{err}
		}
		return answer, err
	}
}
