package wacz

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// wanted is one capture, and the payload that `arcrawl cat` prints for it.
type wanted struct {
	Stamp string    `json:"stamp"` // 17 digits
	URI   string    `json:"uri"`
	Sums  [2]string `json:"sums"` // SHA-256 of the payload, and of the payload in its content coding (cat --raw)
}

// everyCapture returns all captures of an archive, as `arcrawl cat` prints them.
func everyCapture(t *testing.T, l *archivetest.Archive) (all []wanted) {
	t.Helper()
	library, err := index.OpenLibrary(t.Context(), l.Dir, index.Options{}, noFinding)
	archivetest.Must(t, err)
	var lines strings.Builder
	_, err = index.Build(t.Context(), l.Files(), index.Options{Milliseconds: true}, &lines, noFinding)
	archivetest.Must(t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(lines.String()) {
		e, err := index.ParseEntry(line)
		archivetest.Must(t, err)
		if seen[e.URL] || !strings.HasPrefix(e.URL, "http") { // the other records are about no page
			continue
		}
		seen[e.URL] = true
		captures, err := library.History(e.URL)
		archivetest.Must(t, err)
		for _, c := range captures {
			w := wanted{Stamp: index.Stamp(c.Date, true), URI: c.URL}
			for i, decode := range []bool{true, false} {
				p, err := library.Payload(t.Context(), c, decode)
				archivetest.Must(t, err)
				b, err := io.ReadAll(p)
				archivetest.Must(t, errors.Join(err, p.Close()))
				sum := sha256.Sum256(b)
				w.Sums[i] = hex.EncodeToString(sum[:])
			}
			all = append(all, w)
		}
	}
	archivetest.Must(t, library.Close())
	return all
}

// replayed is a script that plays captures and returns those whose payload differs. The modifier id_ asks for the
// payload without changes for replay; wabac.js then removes gzip and brotli, and leaves deflate and zstd.
//
// For a package, wabac.js redirects to an address with the package's hash, in which it cuts the date to a second. So
// the captures are asked for by addresses with both.
const replayed = `(async all => {
	const wrong = [];
	const first = await fetch("/w/test/id_/" + all[0].uri);
	const pack = first.url.match("/w/test/(:[0-9a-f]+/)")?.[1] ?? "";
	const play = async c => {
		const answer = await fetch("/w/test/" + pack + c.stamp + "id_/" + c.uri);
		const body = await answer.arrayBuffer();
		const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
		const hex = [...sum].map(b => b.toString(16).padStart(2, "0")).join("");
		if (!c.sums.includes(hex)) wrong.push(c.stamp + " " + c.uri + " " + answer.status + ": " + new TextDecoder().decode(body).slice(-60));
	};
	for (let i = 0; i < all.length; i += 16) await Promise.all(all.slice(i, i + 16).map(play));
	return wrong;
})(%s)`

// TestReplayEngineShowsEveryVersion plays every capture of an archive with the engine of ReplayWeb.page, from the WARC
// files and from a package. Each must have the payload that `arcrawl cat` prints.
func TestReplayEngineShowsEveryVersion(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	worker := foreign.ReplayWorker(t)
	l := archivetest.Versioned(t)
	all := everyCapture(t, l)
	if want := 7*archivetest.VisitsOfVersions + archivetest.Versions; len(all) != want {
		t.Fatalf("the archive has %d captures, want %d", len(all), want)
	}
	text, err := json.Marshal(all)
	archivetest.Must(t, err)
	pack, whole := filepath.Join(t.TempDir(), "archive.wacz"), filepath.Join(t.TempDir(), "archive.warc.gz")
	packedAs(t, pack, l.Files(), Options{})
	join(t, whole, l.Files())
	for name, file := range map[string]string{"archive.warc.gz": whole, "archive.wacz": pack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := browser.Open(t, 200, 100)
			p.Go(serve(t, worker, name, file))
			if got := p.Eval(fmt.Sprintf("load(%q)", "/"+name)); got != `"loaded"` {
				t.Fatalf("the loaded collection is %s", got)
			}
			var wrong []string
			archivetest.Must(t, json.Unmarshal([]byte(p.Eval(fmt.Sprintf(replayed, text))), &wrong))
			for i, w := range wrong {
				t.Errorf("capture %d of %d that differ, of %d: %s", i+1, len(wrong), len(all), w)
			}
		})
	}
}

// join writes the files one after the other into a new one.
func join(t *testing.T, to string, files []string) {
	t.Helper()
	var all []byte
	for _, f := range files {
		all = append(all, archivetest.Read(t, f)...)
	}
	archivetest.Must(t, os.WriteFile(to, all, 0o644))
}

// TestPywbShowsEveryVersion plays every capture of an archive with pywb, with the index of a package, with one of
// whole seconds, as the daemon keeps it, and with the indexes that pywb's and py-wacz's indexers make. Each must have
// the payload that `arcrawl cat` prints. The captures of one URI within one second are left out: pywb compares dates
// by the second, whatever the index has.
func TestPywbShowsEveryVersion(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l := archivetest.Versioned(t)
	all := slices.DeleteFunc(everyCapture(t, l), func(c wanted) bool { return strings.Contains(c.URI, "/moment") })
	ours := func(milliseconds bool) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			var lines strings.Builder
			_, err := index.Build(t.Context(), l.Files(), index.Options{Milliseconds: milliseconds}, &lines, noFinding)
			archivetest.Must(t, err)
			return lines.String()
		}
	}
	theirs := func(program string, options ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			out, errs, err := foreign.Program(t, program, slices.Concat(options, l.Files())...)
			if err != nil {
				t.Fatalf("%s: %v\n%s", program, err, errs)
			}
			lines := strings.SplitAfter(out, "\n")
			slices.Sort(lines)
			return strings.Join(lines, "")
		}
	}
	for name, make := range map[string]func(t *testing.T) string{
		"milliseconds": ours(true), "seconds": ours(false),
		"cdx-indexer": theirs("cdx-indexer", "--cdxj"), "cdxj-indexer": theirs("cdxj-indexer"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			player := foreign.Pywb(t, l.Dir, archivetest.Save(t, "index.cdxj", []byte(make(t))))
			for _, c := range all {
				stamp := c.Stamp
				if name != "milliseconds" {
					stamp = stamp[:len(index.DateLayout)]
				}
				if status, b := load(t, player+stamp+"id_/"+c.URI); !c.is(b) {
					t.Errorf("%s %s: %s %.80q", c.Stamp, c.URI, status, b)
				}
			}
			t.Logf("pywb played %d captures", len(all))
		})
	}
}

// is reports whether a payload is the wanted one.
func (w wanted) is(payload []byte) bool {
	sum := sha256.Sum256(payload)
	return slices.Contains(w.Sums[:], hex.EncodeToString(sum[:]))
}

// load returns what is at an address, also if the body is shorter than its Content-Length, as in a truncated capture.
func load(t *testing.T, address string) (status string, body []byte) {
	t.Helper()
	client := &http.Client{
		Timeout:       time.Minute,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Get(address)
	archivetest.Must(t, err)
	defer answer.Body.Close() //nolint:errcheck // nothing was written
	body, err = io.ReadAll(answer.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	return answer.Status, body
}
