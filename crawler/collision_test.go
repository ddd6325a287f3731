package crawler_test

import (
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/town"
)

// The first bytes of the two files of the SHAttered attack (2017): different bytes of one length and one SHA-1.
const (
	shattered = "255044462d312e330a25e2e3cfd30a0a0a312030206f626a0a3c3c2f57696474682032203020522f4865696768742033203020522f54" +
		"7970652034203020522f537562747970652035203020522f46696c7465722036203020522f436f6c6f7253706163652037203020522f4c65" +
		"6e6774682038203020522f42697473506572436f6d706f6e656e7420383e3e0a73747265616d0affd8fffe00245348412d31206973206465" +
		"61642121212121852fec092339759c39b1a1c63c4c97e1fffe01"
	shatteredOne = "7f46dc93a6b67e013b029aaa1db2560b45ca67d688c7f84b8c4c791fe02b3df614f86db1690901c56b45c1530afedfb76038e972" +
		"722fe7ad728f0e4904e046c230570fe9d41398abe12ef5bc942be33542a4802d98b5d70f2a332ec37fac3514e74ddc0f2cc1a874cd0c7830" +
		"5a21566461309789606bd0bf3f98cda8044629a1"
	shatteredTwo = "7346dc9166b67e118f029ab621b2560ff9ca67cca8c7f85ba84c79030c2b3de218f86db3a90901d5df45c14f26fedfb3dc38e96a" +
		"c22fe7bd728f0e45bce046d23c570feb141398bb552ef5a0a82be331fea48037b8b5d71f0e332edf93ac3500eb4ddc0decc1a864790c782c" +
		"76215660dd309791d06bd0af3f98cda4bc4629b1"
)

// collision returns two texts of one length with one SHA-1.
func collision(t *testing.T) (one, two string) {
	t.Helper()
	a, errA := hex.DecodeString(shattered + shatteredOne)
	b, errB := hex.DecodeString(shattered + shatteredTwo)
	if errA != nil || errB != nil || digest.Of(a) != digest.Of(b) || string(a) == string(b) {
		t.Fatal("the texts are no collision")
	}
	return string(a), string(b)
}

// Before, the second text was archived as a revisit of the first one: whoever asked for it got the other text.
func TestPayloadsOfOneSHA1AreArchivedApart(t *testing.T) {
	t.Parallel()
	one, two := collision(t)
	for _, by := range []string{"digest", "uri-first"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			dir := inTown(t, "[dedup]\nby = \""+by+"\"\n[[wait]]\nmime = \".*\"\ninitial = \"10h\"\nmax = \"10h\"\n[seeds]\n"+
				"uris = [\"http://x.example/a\", \"http://x.example/b\", \"http://x.example/c\", \"http://x.example/d\"]\n", func(t *testing.T, w *world) {
				for name, body := range map[string]string{"a": one, "b": two, "c": one, "d": two} {
					w.set("http://x.example/"+name, town.Page{Type: "application/pdf", Body: body})
				}
				w.run(25 * time.Hour)
				w.set("http://x.example/a", town.Page{Type: "application/pdf", Body: two}) // a page that changes
				w.run(25 * time.Hour)
			})
			full, revisits := map[string]string{}, map[string][]string{} // payloads by record id, and originals by page
			served := map[string][]string{}
			for _, file := range finishedFiles(t, dir) {
				eachRecord(t, file, func(rec *warc.Record) {
					h := rec.Header
					if h.Get("WARC-Payload-Digest") != digest.Of([]byte(one)).String() {
						return
					}
					name := strings.TrimPrefix(h.Target(), "http://x.example/")
					if h.Type() == "revisit" {
						id := h.ID("WARC-Refers-To")
						revisits[name] = append(revisits[name], id)
						served[name] = append(served[name], full[id])
						return
					}
					block, err := io.ReadAll(rec)
					if err != nil {
						t.Error(err)
					}
					_, body, _ := strings.Cut(string(block), "\r\n\r\n")
					full[rec.ID()] = body
					served[name] = append(served[name], body)
				})
			}
			for name, want := range map[string]string{"b": two, "c": one, "d": two} {
				for n, got := range served[name] {
					if got != want {
						t.Errorf("capture %d of %s replays another text of the same SHA-1", n+1, name)
					}
				}
				if len(served[name]) < 4 {
					t.Errorf("%s has %d captures", name, len(served[name]))
				}
			}
			changed := served["a"]
			if len(changed) < 4 || changed[0] != one || changed[len(changed)-1] != two {
				t.Errorf("the page that changed has %d captures, and the last one replays its first text", len(changed))
			}
			if len(revisits["b"])+len(revisits["d"]) < 3 {
				t.Errorf("equal texts are no revisits any more: %v", revisits)
			}
		})
	}
}

// What is archived whole has its SHA-256 in the metadata record.
func TestStoredPayloadsHaveASHA256(t *testing.T) {
	t.Parallel()
	dir := inTown(t, "[seeds]\nuris = [\"http://a.example/\"]\n", func(t *testing.T, w *world) {
		w.set("http://a.example/", town.Page{Type: "text/plain", Body: "hello"})
		w.run(30 * time.Hour)
		for _, r := range w.visits(".example/") {
			if r.Kept != aspects.KeptResponse && r.Kept != aspects.KeptRevisit {
				t.Errorf("a visit left %v", r.Kept)
			}
		}
	})
	found := 0
	for _, file := range finishedFiles(t, dir) {
		eachRecord(t, file, func(rec *warc.Record) {
			if text, err := io.ReadAll(rec); rec.Header.Type() == "metadata" && err == nil && rec.Header.Target() == "http://a.example/" {
				found += strings.Count(string(text),
					"payloadSHA256: sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\r\n")
			}
		})
	}
	if found != 1 {
		t.Errorf("%d metadata records have the SHA-256, want the one of the response", found)
	}
}
