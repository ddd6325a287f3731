package api_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

func TestTheLineAboutRendering(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    api.Rendering
		want string
	}{
		{api.Rendering{}, ""},
		{api.Rendering{NoBrowser: true, Dropped: 3}, "Chromium is not installed"},
		{api.Rendering{Done: 12, Found: 40, Queue: 3, Failed: 1}, "12 pages: 40 new URIs; 3 waiting, 1 failed, 0 dropped"},
	} {
		if got := c.r.Line(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}
