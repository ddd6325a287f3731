package cli

import (
	"slices"
	"testing"
)

func TestTheConfigurationIsLookedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, env string
		files     []string
		want      string
		tried     bool
	}{
		{name: "nothing", tried: true},
		{name: "in the folder", files: []string{"arcrawl.toml", "/etc/arcrawl/arcrawl.toml"}, want: "arcrawl.toml"},
		{name: "of the package", files: []string{"/etc/arcrawl/arcrawl.toml"}, want: "/etc/arcrawl/arcrawl.toml"},
		{name: "named", env: "/srv/a.toml", files: []string{"arcrawl.toml", "/srv/a.toml"}, want: "/srv/a.toml"},
		{name: "named, but missing", env: "/srv/a.toml", files: []string{"arcrawl.toml"}, want: "/srv/a.toml"},
		{name: "a folder", env: "/srv", files: []string{"/srv/arcrawl.toml"}, want: "/srv/arcrawl.toml"},
	} {
		f := configFinder{
			env:    func(string) (string, bool) { return c.env, c.env != "" },
			exists: func(path string) bool { return slices.Contains(c.files, path) },
		}
		if got := f.find(); got != c.want || (f.tried != "") != c.tried {
			t.Errorf("%s: found %q, tried %q; want %q", c.name, got, f.tried, c.want)
		}
	}
}
