package curator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of packages.
const (
	maxPackCaptures = 50_000 // of a package
	maxPackBytes    = 2 << 30
	maxKept         = 5 // finished or failed packages
	maxWaiting      = 3
)

// packFolder is the name of the folder of packages, in the folder of the daemon's state.
const packFolder = "packages"

// States of a package.
const (
	waiting  = "waiting"
	choosing = "choosing"
	copying  = "copying"
	done     = "done"
	failed   = "failed"
)

// errBusy says that too many packages wait.
var errBusy = fmt.Errorf("%d packages wait already; try again when one is done", maxWaiting)

// packOptions say how packages are made.
type packOptions struct {
	Dir      string // folder of the state; "" makes no packages
	Archive  *captures.LiveReader
	Config   func() *config.Config
	Hosts    func() []uri.Host     // of the crawl
	Free     func() (int64, error) // bytes of the disk
	Now      func() time.Time
	Software string
	Node     string // of a divided crawl, whose archive may have other hosts too; "" = the archive has all
}

// packStore makes and keeps packages. Its methods are safe for concurrent use.
type packStore struct {
	o   packOptions
	dir string

	mu      sync.Mutex        // guards the fields below, and the packages
	list    []*orderedPackage // newest first
	stop    context.CancelFunc
	running sync.WaitGroup
	working bool
	closed  bool
}

// orderedPackage is a package that was ordered.
type orderedPackage struct {
	api.Package
	choice choice
}

// openPackStore returns a store with the packages of earlier runs. It removes what an earlier run did not finish.
func openPackStore(o packOptions) *packStore {
	s := &packStore{o: o, dir: filepath.Join(o.Dir, packFolder)}
	files, err := os.ReadDir(s.dir)
	if o.Dir == "" || err != nil {
		return s
	}
	for _, f := range files {
		info, err := f.Info()
		switch {
		case strings.HasPrefix(f.Name(), workPrefix):
			_ = os.RemoveAll(filepath.Join(s.dir, f.Name())) // a folder that stays is not listed
		case err == nil && strings.HasSuffix(f.Name(), ".wacz") && info.Mode().IsRegular():
			s.list = append(s.list, &orderedPackage{Package: api.Package{
				Name: f.Name(), What: "made before the last restart", Ordered: info.ModTime().UTC(), State: done,
				Size: info.Size(), Link: packageLink(f.Name()), Node: o.Node,
			}})
		}
	}
	slices.SortFunc(s.list, func(a, b *orderedPackage) int { return b.Ordered.Compare(a.Ordered) })
	return s
}

func packageLink(name string) string { return api.Base + "/packages/" + url.PathEscape(name) }

// List returns the packages, newest first.
func (s *packStore) List() api.Packages {
	out := api.Packages{Packages: []api.Package{}}
	if s.o.Archive == nil {
		out.Problem = captures.NoIndex
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.list {
		one := p.Package
		one.Notes = slices.Clone(p.Notes)
		out.Packages = append(out.Packages, one)
	}
	return out
}

// Order orders a package. The error is about the order, or errBusy.
func (s *packStore) Order(o PackOrder) (api.Package, error) {
	c, err := choiceOf(o)
	switch {
	case err != nil:
		return api.Package{}, err
	case s.o.Archive == nil:
		return api.Package{}, fmt.Errorf("%s", captures.NoIndex)
	case s.o.Dir == "":
		return api.Package{}, errors.New("this daemon has no folder for packages")
	}
	now := s.o.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	unfinished := 0
	for _, p := range s.list {
		if p.State == waiting {
			unfinished++
		}
	}
	if unfinished >= maxWaiting {
		return api.Package{}, errBusy
	}
	p := &orderedPackage{choice: c, Package: api.Package{
		Name: s.freeName(c, now), What: c.what, Ordered: now, State: waiting, Node: s.o.Node,
	}}
	s.list = slices.Insert(s.list, 0, p)
	s.start()
	return p.Package, nil
}

// freeName returns a name that no package has. The lock is held.
func (s *packStore) freeName(c choice, now time.Time) string {
	base := c.name + "-" + now.Format("20060102150405")
	for n := 1; ; n++ {
		name := base + ".wacz"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.wacz", base, n)
		}
		_, err := os.Lstat(filepath.Join(s.dir, name))
		if err != nil && !slices.ContainsFunc(s.list, func(p *orderedPackage) bool { return p.Name == name }) {
			return name
		}
	}
}

// change changes a package.
func (s *packStore) change(p *orderedPackage, do func(p *api.Package)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&p.Package)
}

// trim removes the oldest packages that are finished. The lock is held.
func (s *packStore) trim() {
	kept := 0
	s.list = slices.DeleteFunc(s.list, func(p *orderedPackage) bool {
		if p.State != done && p.State != failed {
			return false
		}
		if kept++; kept <= maxKept {
			return false
		}
		_ = os.Remove(filepath.Join(s.dir, p.Name)) // a file that stays is listed after the next start
		return true
	})
}

// ServeFile answers with the file of a package. It reports whether there is one.
func (s *packStore) ServeFile(to http.ResponseWriter, r *http.Request, name string) bool {
	s.mu.Lock()
	known := slices.ContainsFunc(s.list, func(p *orderedPackage) bool { return p.Name == name && p.State == done })
	s.mu.Unlock()
	if !known {
		return false
	}
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	h := to.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	http.ServeContent(to, r, name, time.Time{}, f)
	return true
}
