package archive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHostListReadsHosts(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "hosts.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hosts := []string{"first.example"}
	if err := (hostList{&hosts}).Set(write("# news\n\n a.example # the first\n.b.example\n")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"first.example", "a.example", ".b.example"}; !slices.Equal(hosts, want) {
		t.Errorf("the hosts are %q, want %q", hosts, want)
	}
	for text, want := range map[string]string{
		"# nothing\n": "names no host", "a.example b.example\n": "one host on a line", "https://a.example/\n": "one host on a line",
	} {
		if err := (hostList{&hosts}).Set(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q returns %v, want %q", text, err, want)
		}
	}
}
