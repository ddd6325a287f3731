package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFetchTriesAHostAndChangesNothing runs fetch --try with another header field, and with flags that are wrong.
func TestFetchTriesAHostAndChangesNothing(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "page in ", r.Header.Get("Accept-Language"))
	}))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	writeFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\nfetch.allow_networks = [\"127.0.0.0/8\"]\npoliteness.min_delay = \"1ms\"\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--try", site.URL, "--header", "Accept-Language: da"}, exitOK, "sent     Accept-Language: da\nstatus     200\n"},
		{[]string{"--try", site.URL, "--json"}, exitOK, `"size": 8`},
		{nil, exitUsage, "--try is missing"},
		{[]string{"--try", "a.example", "--header", "Host: b"}, exitUsage, "header field of the connection"},
		{[]string{"--try", "ftp://a.example/"}, exitUsage, "ftp"},
	} {
		code, out, errs := command(append([]string{"fetch", "-c", path}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: exit code %d, %s%s; want %d and %q", c.args, code, out, errs, c.code, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("the folder has %d entries, want the configuration alone: %v", len(left), err)
	}
}
