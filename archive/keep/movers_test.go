package keep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
)

// Each finished file is moved by one mover at most: to the folders of its series at once, or to the others.
func TestEachFileHasOneMover(t *testing.T) {
	t.Parallel()
	const rest = "-20261121090000123-00001-c1.warc.gz"
	for _, c := range []struct {
		folders schema.Folders
		want    map[string]string // folders by series; a star means always
	}{
		{nil, map[string]string{}},
		{schema.Folders{"/a", "/b"}, map[string]string{"": "/a /b", "contract": "/a /b", "embargo": "/a /b", "former": "/a /b"}},
		{schema.Folders{"embargo=/e"}, map[string]string{"embargo": "/e *"}},
		{
			schema.Folders{"/a", "embargo=/e", "embargo=/f"},
			map[string]string{"": "/a", "contract": "/a", "embargo": "/e /f *", "former": "/a"},
		},
	} {
		conf := &config.Config{Series: []string{"contract", "embargo"}}
		conf.WARC.Prefix, conf.Storage.Folders, conf.Storage.MinFree = "kb", c.folders, 1
		all := moversOf(conf, time.Now, zerolog.Nop())
		for _, series := range []string{"", "contract", "embargo", "former"} {
			file := "kb-" + series + rest
			if series == "" {
				file = "kb" + rest
			}
			var got []string
			for _, m := range all {
				if m.Takes(file) {
					got = append(got, m.Folders...)
					if m.Always != (m.SameDisk == nil) || m.Always != (m.Keep == 1) {
						t.Errorf("%q: the mover of %s is %+v", c.folders, file, m)
					}
					if m.Always {
						got = append(got, "*")
					}
				}
			}
			if !slices.Equal(got, strings.Fields(c.want[series])) {
				t.Errorf("%q: %s goes to %q, want %q", c.folders, file, got, c.want[series])
			}
		}
	}
}
