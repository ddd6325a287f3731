package crawler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
)

// Damage on disk is found within one round of verification, even if nothing else reads the data. It stops the crawl, so
// that the damage does not reach the backups.
func TestDamagedStoreStopsTheCrawl(t *testing.T) {
	t.Parallel()
	inTown(t, "[seeds]\nuris = [\"http://a.example/\"]\n", func(t *testing.T, w *world) {
		w.set("http://a.example/", town.Page{Every: time.Hour})
		w.run(24 * time.Hour) // its tables are written when it ends
		parts, _ := w.open()
		tables, err := filepath.Glob(w.path("state/*.sst"))
		if err != nil || len(tables) == 0 {
			t.Fatal(tables, err)
		}
		spoil(t, tables[0])
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		err = crawler.New(parts).Run(ctx)
		if !errors.Is(err, frontier.ErrCorrupt) || !strings.Contains(err.Error(), filepath.Base(tables[0])) {
			t.Errorf("Run returned %v, want an error that the table is damaged", err)
		}
		// The store is not checked: it is damaged on purpose.
		_ = errors.Join(parts.Fetch.Close(), parts.Archive.Close(time.Now()), parts.CrawlLog.Close(), parts.Frontier.Close())
	})
}

// spoil flips one bit in the middle of a file.
func spoil(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, info.Size()/3); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, info.Size()/3); err != nil {
		t.Fatal(err)
	}
}
