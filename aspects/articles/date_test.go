package articles

import (
	"testing"
	"time"
)

func TestDateIn(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/2026/11/21/a-title":       "2026-11-21",
		"/news/2026-11-21-title":    "2026-11-21",
		"/news/20261121/title":      "2026-11-21",
		"/a/2026/1/2/":              "2026-01-02",
		"/2026/13/21/":              "",
		"/2026/11/31/":              "",
		"/2026/a/11/21":             "",
		"/12345678":                 "",
		"/99999999999999999999/1/1": "",
		"/":                         "",
	} {
		got := dateIn(path)
		if text := got.Format(time.DateOnly); got.IsZero() && want != "" || !got.IsZero() && text != want {
			t.Errorf("%s: %s, want %q", path, text, want)
		}
	}
}
