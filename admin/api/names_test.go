package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func TestNamedMarksRemovedHostsAndShowsUnicode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"gone.example.toml.removed", "xn--bcher-kva.example_8080.toml.removed", "back.example.toml.removed", "back.example.toml",
	} {
		archivetest.Must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for _, c := range []struct{ host, label, condition string }{
		{"gone.example", "gone.example", "idle, removed"},
		{"back.example", "back.example", "idle"},
		{"other.example", "other.example", "idle"},
		{"xn--bcher-kva.example:8080", "bücher.example:8080 (xn--bcher-kva.example:8080)", "idle, removed"},
	} {
		h := Host{Host: c.host, State: "idle"}.Named(dir)
		if h.Label() != c.label || h.Condition() != c.condition {
			t.Errorf("%s is shown as %q, %q; want %q, %q", c.host, h.Label(), h.Condition(), c.label, c.condition)
		}
	}
}

func TestTheLineAboutRendering(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    Rendering
		want string
	}{
		{Rendering{}, ""},
		{Rendering{NoBrowser: true, Dropped: 3}, "Chromium is not installed"},
		{Rendering{Done: 12, Found: 40, Queue: 3, Failed: 1}, "12 pages: 40 new URIs; 3 waiting, 1 failed, 0 dropped"},
	} {
		if got := c.r.Line(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}
