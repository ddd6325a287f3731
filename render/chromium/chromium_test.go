package chromium_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	site  = "https://www.site.example"
	other = "https://cdn.other.example"
)

// browser returns a browser that ends with the test. Without Chromium the test is skipped.
func browser(t testing.TB, o chromium.Options) *chromium.Browser {
	t.Helper()
	program, err := chromium.Find("")
	if err != nil {
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
			t.Fatal(err)
		}
		t.Skipf("run scripts/test-deps: %v", err)
	}
	if o.Program = program; o.Memory == 0 {
		o.Memory = 3e9
	}
	b := chromium.NewBrowser(o)
	t.Cleanup(b.Close)
	return b
}

// files answers requests from memory, and remembers them.
type files struct {
	content map[string]string // URI → content
	readers map[string]string // URI → the origin whose pages may read it, as the server says
	mu      sync.Mutex
	asked   []string
}

func (f *files) answer(_ context.Context, q chromium.Request) chromium.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q.URI)
	text, ok := f.content[q.URI]
	if !ok {
		return chromium.Answer{Status: http.StatusNotFound, Header: http.Header{"Content-Type": {typeOf(q.URI)}}}
	}
	if to, ok := strings.CutPrefix(text, "302 "); ok {
		return chromium.Answer{Status: http.StatusFound, Header: http.Header{"Location": {to}}}
	}
	header := http.Header{"Content-Type": {typeOf(q.URI)}}
	if origin, ok := f.readers[q.URI]; ok {
		header["Access-Control-Allow-Origin"] = []string{origin}
		header["Access-Control-Allow-Credentials"] = []string{"true"}
	}
	return chromium.Answer{Status: http.StatusOK, Header: header, Body: []byte(text)}
}

func typeOf(uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	switch path.Ext(uri) {
	case ".js":
		return "text/javascript"
	case ".css":
		return "text/css"
	case ".json":
		return "application/json"
	case ".txt":
		return "text/plain"
	case ".png", ".jpg", ".gif", ".webp":
		return "image/png"
	}
	return "text/html"
}

// absolute returns the URI of a path of the ways.
func absolute(p string) string {
	if rest, ok := strings.CutPrefix(p, "OTHER"); ok {
		return other + rest
	}
	return site + p
}

// found returns all URIs that a rendering found: those that were requested, and those that the page then names.
func found(t *testing.T, r chromium.Result) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, f := range r.Found {
		all[f.URI] = true
	}
	doc := discover.Document{
		URI: uri.FromCanonical(
			r.URI,
		), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
	}
	links, err := discover.Links(t.Context(), doc, strings.NewReader(string(r.DOM)), discover.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links.Links {
		all[l.URI.String()] = true
	}
	return all
}

// pages puts the ways on as few pages as possible.
func pages() [][]way {
	const together = 12
	var all [][]way
	var rest []way
	for _, w := range ways {
		if w.alone {
			all = append(all, []way{w})
		} else {
			rest = append(rest, w)
		}
	}
	return append(slices.Collect(slices.Chunk(rest, together)), all...)
}

// TestAScriptReadsWhatTheServerPermits lets a script request answers of another site in each way in which a server says
// who may read them, and tell a server what it could read. What the server permits nobody to read, it cannot read.
func TestAScriptReadsWhatTheServerPermits(t *testing.T) {
	slow.Test(t)
	f := &files{content: map[string]string{}, readers: map[string]string{
		other + "/everybody.json": "*", other + "/page.json": site, other + "/third.json": "https://third.example",
		other + "/preflight.json": "*",
	}}
	page, script := site+"/reader.html", ""
	for _, c := range []struct{ name, how string }{
		{"everybody", `{}`},
		{"everybody", `{credentials: "include"}`},
		{"page", `{credentials: "include"}`},
		{"third", `{}`},
		{"nobody", `{}`},
		{"nobody", `{credentials: "include"}`},
		{"nobody", `{mode: "no-cors"}`},
		{"preflight", `{headers: {"X-Requested-With": "page"}}`},
		{"refused", `{headers: {"X-Requested-With": "page"}}`},
	} {
		f.content[other+"/"+c.name+".json"] = c.name
		script += `fetch("` + other + "/" + c.name + `.json", ` + c.how + `).then(r => r.text()).then(text => fetch("/read/" + text + "/` +
			strings.Trim(strings.Split(c.how, ":")[0], "{}") + `"));` + "\n"
	}
	f.content[page] = "<!DOCTYPE html><title>reader</title><script>" + script + "</script>"
	r, err := browser(t, chromium.Options{}).Render(t.Context(), chromium.Job{
		URI: page, Answer: f.answer, Limit: time.Minute, MaxRequests: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	var read []string
	for _, found := range r.Found {
		if what, ok := strings.CutPrefix(found.URI, site+"/read/"); ok {
			read = append(read, what)
		}
	}
	slices.Sort(read)
	if got := strings.Join(read, " "); got != "/mode everybody/ page/credentials preflight/headers" {
		t.Errorf("the script read %q", got)
	}
}

// TestWhatScriptsLoadIsFound renders pages whose scripts load something in all ways. Each URI is found.
func TestWhatScriptsLoadIsFound(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{})
	if len(ways) < 40 {
		t.Errorf("there are only %d ways", len(ways))
	}
	var wanted, missed int
	for _, group := range pages() {
		f := &files{content: map[string]string{}, readers: map[string]string{}}
		text := "<!DOCTYPE html><title>page</title><body>"
		for _, w := range group {
			text += strings.ReplaceAll(w.html, "OTHER", other) + "\n"
			for p, content := range w.files {
				f.content[absolute(p)], f.readers[absolute(p)] = content, site
			}
		}
		page := site + "/" + strings.ReplaceAll(group[0].name, " ", "-") + ".html"
		f.content[page] = text
		r, err := b.Render(t.Context(), chromium.Job{URI: page, Answer: f.answer, Limit: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if r.Late {
			t.Errorf("%s was not quiet", page)
		}
		all := found(t, r)
		for _, w := range group {
			for _, p := range w.want {
				wanted++
				if !all[absolute(p)] {
					missed++
					t.Errorf("%s: %s was not found", w.name, p)
				}
			}
		}
	}
	t.Logf("%d of %d URIs in %d ways were found", wanted-missed, wanted, len(ways))
}

// TestAStartEndsWithItsContext starts a program that never answers, as a browser on a very busy machine.
func TestAStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "browser")
	err := errors.Join(os.Chmod(filepath.Dir(filepath.Dir(program)), 0o755),
		os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	b := chromium.NewBrowser(chromium.Options{Program: program})
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	if _, err := b.Render(ctx, chromium.Job{URI: site, Limit: time.Minute}); err == nil {
		t.Error("a program that never answers has rendered a page")
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it was given up after %v, want one second and what ending it takes", took)
	}
}
