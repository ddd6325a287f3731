package curator

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"syscall"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// seedRoutes returns the requests about lists of seeds.
func (c *curation) seedRoutes() []admin.Route {
	return []admin.Route{
		{
			Method: "POST", Path: api.Base + "/seeds/plan", Asks: true, Heavy: true,
			Body: SeedList{}, Answer: SeedPlan{},
			Doc: "Returns what a list of seeds, CSV or plain text, would change in the host files: what is new, changed, known and faulty.",
			Serve: admin.Served(func(_ *admin.Window, l SeedList) (SeedPlan, error) {
				_, p, err := c.planSeeds(l)
				return p, err
			}),
		},
		{
			Method: "POST", Path: api.Base + "/seeds/import", Needs: access.Curate, Body: SeedList{}, Answer: SeedPlan{},
			Doc: "Writes the seeds of a list into the host files, without its faulty lines. The old files are stored for seeds/undo.",
			Serve: admin.Writing(func(_ *admin.Window, r *http.Request) (any, error) {
				l, err := admin.Read[SeedList](r)
				if err != nil {
					return nil, err
				}
				p, dir, names, err := c.importSeeds(l, access.CallerOf(r.Context()).Name)
				if err == nil {
					what := human.Count(p.New+p.Changed, "seed") + " imported in the dashboard"
					p.Committed = c.window.Commit(r, dir, what, names...)
				}
				return p, err
			}),
		},
		{
			Method: "GET", Path: api.Base + "/seeds/export", Heavy: true, Doc: "Returns the seeds as a CSV list.",
			Params: admin.Filtered(), Answer: SeedList{},
			Serve: func(_ *admin.Window, r *http.Request) (any, error) {
				f, err := c.seedFiles()
				if err != nil {
					return nil, err
				}
				var b bytes.Buffer
				err = f.Export(&b, admin.FilterOf(r))
				return SeedList{Text: b.String()}, err
			},
		},
		{
			Method: "POST", Path: api.Base + "/seeds/undo", Needs: access.Curate, Answer: SeedsUndone{},
			Doc: "Restores the host files as they were before the last import. If somebody changed one of them since, it restores none.",
			Serve: admin.Writing(func(_ *admin.Window, r *http.Request) (any, error) {
				u, dir, err := c.undoSeeds()
				if err != nil {
					return nil, err
				}
				names := make([]string, len(u.Files))
				for i, f := range u.Files {
					names[i] = f.Name
				}
				out := SeedsUndone{What: u.What, At: u.At, Files: len(u.Files)}
				out.Committed = c.window.Commit(r, dir, "undone in the dashboard: "+u.What, names...)
				return out, nil
			}),
		},
	}
}

// seedFiles reads the files of the configuration.
func (c *curation) seedFiles() (configFiles, error) {
	inForce := c.o.Config().Config
	return openConfigFiles(inForce.Path, inForce.HostsDir)
}

// maxPlanned is the maximum number of new and changed seeds in an answer.
const maxPlanned = 1000

// planSeeds compares a list with the host files. It returns these files too.
func (c *curation) planSeeds(l SeedList) (f configFiles, p SeedPlan, err error) {
	if f, err = c.seedFiles(); err != nil {
		return f, p, err
	}
	if p, err = f.Plan([]byte(l.Text)); err != nil {
		return f, p, admin.BadRequest(err)
	}
	p.Seeds = append(p.Seeds[:min(p.New, maxPlanned)], p.Seeds[p.New:][:min(p.Changed, maxPlanned)]...)
	return f, p, nil
}

// undoSeeds restores the host files as they were before the last import. It returns their folder too. The caller holds
// [admin.Window.WritingFiles].
func (c *curation) undoSeeds() (u undoable, dir string, err error) {
	f, err := c.seedFiles()
	if err != nil {
		return u, "", err
	}
	if u, err = f.Undo(); err != nil {
		err = admin.BadRequest(err)
	}
	return u, f.Dir, err
}

// importSeeds writes the host files that a list changes. It returns their folder and names too. The caller holds
// [admin.Window.WritingFiles].
func (c *curation) importSeeds(l SeedList, who string) (p SeedPlan, dir string, names []string, err error) {
	f, p, err := c.planSeeds(l)
	switch {
	case err != nil:
		return p, "", nil, err
	case p.Files == 0:
		return p, "", nil, admin.BadRequest(errors.New("the list changes no host file"))
	}
	if err := f.Write(p.Texts, "import in the dashboard by "+who, c.o.Now()); err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			err = fmt.Errorf("%w%s, or use arcrawl seeds add --from", err, remedy(err, f.Dir))
		}
		return p, "", nil, admin.BadRequest(err)
	}
	return p, f.Dir, slices.Sorted(maps.Keys(p.Texts)), nil
}
