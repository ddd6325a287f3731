package curator

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// world is a crawl of a scripted web and the window that monitors it. It runs in a synctest bubble with virtual time.
type world struct {
	*testcrawl.World
	window   *admin.Window
	curation *curation // of the window
}

const everyHour = testcrawl.EveryHour

// newWorld opens a crawl with its seeds; change may alter the window's options.
func newWorld(t testing.TB, dir, toml string, change ...func(*admin.Options)) *world {
	t.Helper()
	w := &world{World: testcrawl.New(t, dir, toml), curation: new(curation)}
	r := w.Parts
	o := admin.Options{
		Crawler: w.Crawler, Frontier: r.Frontier, Trust: r.Reputation, Accounts: r.Daily, Archive: r.Archive,
		Traps: r.Traps, FreeSpace: r.FreeSpace, Dir: dir,
		Config: func() admin.Loaded { return admin.Loaded{Config: r.Config.Current(), At: w.Started} }, Now: time.Now,
		Version: "test", Workers: 50, Log: r.Log,
		Extensions: []admin.Extension{w.curation.extension()},
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	w.window, err = admin.New(o)
	w.Must(err)
	w.Window = w.window
	w.AddSeeds()
	return w
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
