package admin

import (
	"net/http"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// Writing returns the function that serves a request while no other one writes files of the configuration.
func Writing(serve func(*Window, *http.Request) (any, error)) func(*Window, *http.Request) (any, error) {
	return func(w *Window, r *http.Request) (any, error) {
		w.writing.Lock()
		defer w.writing.Unlock()
		return serve(w, r)
	}
}

// Commit commits files of a folder, if the configuration wants it. The caller has held [Window.WritingFiles] since
// before it wrote them. A failure leaves the change of the files in force.
func (w *Window) Commit(r *http.Request, dir, what string, files ...string) (out api.Committed) {
	if !w.o.Config().Config.Admin.Git {
		return out
	}
	name, err := MakeCommit(r.Context(), Commit{
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
