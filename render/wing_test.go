package render_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/render"
)

// TestCheckWarnsOfAMissingBrowser warns only of files that render pages, wherever they say so.
func TestCheckWarnsOfAMissingBrowser(t *testing.T) {
	t.Parallel()
	head := "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n[render]\nbrowser = \"/nowhere/chromium\"\n"
	for _, c := range []struct {
		main, host string
		warnings   int
	}{
		{"", "", 0},
		{"pages = \"off\"\n", "", 0},
		{"pages = \"changed\"\n", "", 1},
		{"", "[render]\npages = \"every 6h\"\n", 1},
		{"", "[[when]]\nuri = '.*/live/.*'\n[when.render]\npages = \"changed\"\n", 1},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"arcrawl.toml":           head + c.main + "[seeds]\nuris = [\"http://a.example/\"]\n",
			"hosts.d/a.example.toml": c.host + "[politeness]\nmin_delay = \"3s\"\n",
		} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		conf, err := config.Load(filepath.Join(dir, "arcrawl.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if got := render.Check(conf); len(got) != c.warnings || len(got) > 0 && got[0].Key != "render.pages" {
			t.Errorf("%q and %q: %v, want %d warnings", c.main, c.host, got, c.warnings)
		}
	}
}
