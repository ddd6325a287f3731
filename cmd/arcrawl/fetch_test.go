package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
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
	daemontest.WriteFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\nfetch.allow_networks = [\"127.0.0.0/8\"]\npoliteness.min_delay = \"1ms\"\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--try", site.URL, "--header", "Accept-Language: da"}, cli.ExitOK, "sent     Accept-Language: da\nstatus     200\n"},
		{[]string{"--try", site.URL, "--json"}, cli.ExitOK, `"size": 8`},
		{nil, cli.ExitUsage, "--try is missing"},
		{[]string{"--try", "a.example", "--header", "Host: b"}, cli.ExitUsage, "header field of the connection"},
		{[]string{"--try", "ftp://a.example/"}, cli.ExitUsage, "ftp"},
		{[]string{"--try", "a.example", "--do", "consent"}, cli.ExitUsage, "add --render"},
		{[]string{"--try", "a.example", "--render", "--do", "consents"}, cli.ExitUsage, `did you mean "consent"?`},
		{[]string{"--try", "a.example", "--render", "--do", "click = 5"}, cli.ExitUsage, `--do "click = 5": render.do: 5 is a number, not a text`},
		{[]string{"--try", "a.example", "--render", "--do", "click = \"a\" }, { wait = \"b\""}, cli.ExitUsage, "is more than one step"},
		{[]string{"--try", "a.example", "--render", "--do", "click = \"a\" }]\nhosts = [{ a = 1"}, cli.ExitUsage, "is more than one step"},
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

// TestFetchRendersAPage shows what the scripts of a page request, with a real browser.
func TestFetchRendersAPage(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	if _, end, err := openBrowser(new(config.Config)); err == nil {
		end()
	} else if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") != "1" {
		t.Skipf("run scripts/test-deps: %v", err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, `<title>News</title><body><button onclick="fetch('/more.json')">More</button><script>fetch("/list.json").then(r => r.json()).then(l => {
				for (const u of l) document.body.insertAdjacentHTML("beforeend", '<a href="' + u + '">teaser</a>') })</script>`)
		case "/list.json":
			_, _ = fmt.Fprint(w, `["/one", "/two"]`)
		case "/more.json":
			_, _ = fmt.Fprint(w, `["/three"]`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	daemontest.WriteFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\nfetch.allow_networks = [\"127.0.0.0/8\"]\npoliteness.min_delay = \"1ms\"\n")
	code, out, errs := command("fetch", "-c", path, "--try", site.URL, "--render")
	for _, want := range []string{"request    rendered", "title      News", "links      2 (the source has 0)", site.URL + "/list.json  status 200"} {
		if code != cli.ExitOK || !strings.Contains(out, want) {
			t.Errorf("exit code %d, no %q in:\n%s%s", code, want, out, errs)
		}
	}
	code, out, errs = command("fetch", "-c", path, "--try", site.URL, "--render", "--do", `click = "button"`, "--do", "scroll = true")
	for _, want := range []string{"step 1     click button: 1 time, 1 request, ", "step 2     scroll: 1 time, 0 requests, ", "/more.json  status 200"} {
		if code != cli.ExitOK || !strings.Contains(out, want) {
			t.Errorf("exit code %d, no %q in:\n%s%s", code, want, out, errs)
		}
	}
	_, folder, _ := strings.Cut(strings.TrimSpace(errs), "each step are in ")
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if list, err := filepath.Glob(filepath.Join(folder, "*.png")); folder == "" || err != nil || len(list) != 3 {
		t.Errorf("the pictures are %q, %v; want three\n%s", list, err, errs)
	}
}
