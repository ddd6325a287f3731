package crawler_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

const comparing = "[dedup]\ncertainty = \"compare\"\n[seeds]\nuris = [\"http://site.example/\"]\n"

// The archived record is changed between two visits to an unchanged page.
func TestUnsoundRecordIsReplaced(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		harm   func(t *testing.T, file string)
		second aspects.Keeping
		logged string // part of the error
	}{
		{"the record is sound", func(*testing.T, string) {}, aspects.KeptRevisit, ""},
		{"the file was moved away", func(t *testing.T, file string) { must(t, os.Rename(file, file+".away")) }, aspects.KeptResponse, "there is no"},
		{"the record is damaged", damage, aspects.KeptResponse, "gzip"},
		{"another record with other bytes is in its place", exchange, aspects.KeptResponse, "differs after"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			inTown(t, comparing, func(t *testing.T, w *world) {
				w.set("http://site.example/", testcrawl.Page{Body: strings.Repeat("the same each time. ", 100)})
				w.run(time.Hour)
				row.harm(t, finishedFiles(t, w.dir)[0])
				var log bytes.Buffer
				w.log = zerolog.New(&log)
				w.run(48 * time.Hour)
				visits := w.visits(".example/")
				if len(visits) < 3 || visits[1].Kept != row.second || visits[2].Kept != aspects.KeptRevisit {
					t.Errorf("the visits wrote %v; want response, %v, revisit", visits, row.second)
				}
				if told := log.String(); !strings.Contains(told, row.logged) || strings.Contains(told, "cannot replace this payload") != (row.logged != "") {
					t.Errorf("the log has %q, want %q", told, row.logged)
				}
			})
		})
	}
}

// damage flips one bit in the middle of the page's record.
func damage(t *testing.T, file string) {
	t.Helper()
	change(t, file, func(member []byte) []byte {
		member = slices.Clone(member)
		member[len(member)/2] ^= 1
		return member
	})
}

// exchange replaces the page's record with a valid record with other bytes of the same length.
func exchange(t *testing.T, file string) {
	t.Helper()
	change(t, file, func(member []byte) []byte {
		text := bytes.Replace(unzip(t, member), []byte("each time. the"), []byte("each week. the"), 1)
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write(text)
		must(t, err)
		must(t, z.Close())
		return out.Bytes()
	})
}

// change rewrites the gzip member that contains the page.
func change(t *testing.T, file string, how func([]byte) []byte) {
	t.Helper()
	all, err := os.ReadFile(file)
	must(t, err)
	magic := []byte("\x1f\x8b\x08")
	for pos := 0; pos < len(all); {
		end := len(all)
		if next := bytes.Index(all[pos+1:], magic); next >= 0 {
			end = pos + 1 + next
		}
		if text := unzip(t, all[pos:end]); bytes.Contains(text, []byte("each time")) {
			must(t, os.WriteFile(file, slices.Concat(all[:pos], how(all[pos:end]), all[end:]), 0o600))
			return
		}
		pos = end
	}
	t.Fatal("the page is not in the file")
}

func unzip(t *testing.T, member []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(member))
	must(t, err)
	z.Multistream(false)
	var out bytes.Buffer
	_, err = out.ReadFrom(z)
	must(t, err)
	return out.Bytes()
}

// An imported payload is used as the original of a revisit, with or without a record id. The revisit names the package.
func TestImportedPayloadIsNotStoredAgain(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	inTown(t, "[seeds]\nuris = [\"http://site.example/\"]\n", func(t *testing.T, w *world) {
		body := "archived long ago"
		w.set("http://site.example/", testcrawl.Page{Body: body})
		parts, shut := w.open()
		old := dedup.Collection{Number: 1, Name: "old.wacz", Hash: "sha256:1", State: dedup.Active, Files: []string{"old.warc.gz"}}
		o := digest.Origin{URI: "http://old.example/", Date: time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), Payload: digest.Of([]byte(body)), File: "old.warc.gz"}
		found := dedup.Found{Key: dedup.Key{Payload: o.Payload, Status: 200, MIME: "text/html"}, Origin: o}
		must(t, parts.Dedup.Store(old, found))
		shut()
		w.run(48 * time.Hour)
		parts, shut = w.open()
		var revisits int64
		must(t, parts.Dedup.EachPayload(t.Context(), func(all []dedup.Held) {
			for _, h := range all {
				revisits += h.Revisits * int64(h.Collection)
			}
		}))
		if revisits < 2 {
			t.Errorf("the index holds %d revisits of the imported record, want two", revisits)
		}
		old.State = dedup.Removed
		must(t, parts.Dedup.Store(old))
		shut()
		files, _ := warc.Files([]string{w.path("warc")})
		for _, f := range files {
			must(t, warc.EachRecord(t.Context(), f, nil, warc.NewFindings(f), func(rec *warc.Record) error {
				h := rec.Header
				if at := h.Get("WARC-Refers-To-Container"); h.Type() == "revisit" && h.Target() == "http://site.example/" && at != "file://old.wacz" {
					t.Errorf("the revisit of %s names the package %q", h.Date(), at)
				}
				return rec.Close()
			}))
		}
		before := len(w.visits(".example/"))
		for n, r := range w.visits(".example/") {
			if r.Kept != aspects.KeptRevisit {
				t.Errorf("visit %d wrote %v, want a revisit", n, r.Kept)
			}
		}
		w.run(72 * time.Hour)
		if after := w.visits(".example/")[before:]; len(after) == 0 || after[0].Kept != aspects.KeptResponse {
			t.Errorf("after the collection was removed the visits wrote %v, want a response", after)
		}
	})
}
