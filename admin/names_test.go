package admin

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// A host whose file is deleted is marked, also after a restart, until it has a file again.
func TestAHostWhoseFileIsDeletedIsMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main := filepath.Join(dir, "arcrawl.toml")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("arcrawl.toml", "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n")
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750); err != nil {
		t.Fatal(err)
	}
	const buecher = "xn--bcher-kva.example:8080"
	hosts := []uri.Host{"a.example", buecher, "c.example"}
	names := func() map[string]api.HostName {
		b := OpenNames(filepath.Join(dir, "names.json")) // as after a restart
		c, err := config.Load(main)
		if err == nil {
			err = b.Update(c)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Of(hosts).Hosts
	}
	check := func(when string, want map[string]api.HostName) {
		t.Helper()
		if got := names(); !maps.Equal(got, want) {
			t.Errorf("%s the names are %v, want %v", when, got, want)
		}
	}
	const unicode = "bücher.example:8080"
	write("hosts.d/a.example.toml", "[seeds]\nuris = [\"http://a.example/\"]\n")
	write("hosts.d/books.toml", "host = \""+buecher+"\"\n")
	check("with files", map[string]api.HostName{buecher: {Unicode: unicode}})
	for _, name := range []string{"a.example", "books"} {
		if err := os.Remove(filepath.Join(dir, "hosts.d", name+".toml")); err != nil {
			t.Fatal(err)
		}
	}
	check("without files", map[string]api.HostName{"a.example": {Removed: true}, buecher: {Unicode: unicode, Removed: true}})
	write("hosts.d/a.example.toml", "")
	check("with a new file", map[string]api.HostName{buecher: {Unicode: unicode, Removed: true}})
}
