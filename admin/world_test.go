package admin

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// world is a crawl of a scripted web and the window that monitors it. It runs in a synctest bubble with virtual time.
type world struct {
	*testcrawl.World
	window *Window
}

const everyHour = testcrawl.EveryHour

// newWorld opens a crawl with its seeds; change may alter the window's options.
func newWorld(t testing.TB, dir, toml string, change ...func(*Options)) *world {
	t.Helper()
	w := &world{World: testcrawl.NewWorld(t, dir, toml)}
	r := w.Parts
	o := Options{
		Lose:    func(api.LostFiles) (api.LostAnswer, error) { return api.LostAnswer{}, nil },
		Crawler: w.Crawler, Frontier: r.Frontier, Trust: r.Reputation, Accounts: r.Daily,
		Traps: r.Traps, FreeSpace: r.FreeSpace, Dir: dir,
		Config: func() Loaded { return Loaded{Config: r.Config.Current(), At: w.Started} }, Now: time.Now,
		Version: "test", Workers: 50, Log: r.Log,
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	w.window, err = New(o)
	w.Must(err)
	w.Window, w.Handler = w.window, w.window.Handler(access.Options{})
	w.AddSeeds()
	return w
}

// inWorld runs a test in a crawl with its seeds and virtual time; change may alter the window's options.
func inWorld(t *testing.T, toml string, test func(w *world), change ...func(*Options)) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, toml, change...)
		defer w.Close()
		test(w)
	})
}

// get sends a GET request that must succeed.
func get[A any](w *world, path string) A {
	w.Helper()
	return testcrawl.Get[A](w.World, path)
}

// post sends a POST request that must succeed.
func post[A any](w *world, path string, body any) A {
	w.Helper()
	return testcrawl.Post[A](w.World, path, body)
}

// NewWorld is newWorld for the tests outside the package.
func NewWorld(t testing.TB, dir, toml string) *testcrawl.World { return newWorld(t, dir, toml).World }
