package frontier

import (
	"errors"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// start is the time at which the tests of this package begin that look inside.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// openTest opens a frontier, which is checked and closed at the end of the test.
func openTest(t *testing.T, o Options) *Frontier {
	t.Helper()
	o.Now, o.Compactors = start, -1
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	f, err := Open(o)
	noErr(t, err)
	t.Cleanup(func() {
		if !f.closed {
			noErr(t, errors.Join(f.Check(), f.Close()))
		}
	})
	return f
}

// link adds a URI that some page links to.
func link(t *testing.T, f *Frontier, text string) Added {
	t.Helper()
	added, err := f.Add(start, Candidate{URI: uri.FromCanonical(text), Hops: "L"})
	noErr(t, err)
	return added
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
