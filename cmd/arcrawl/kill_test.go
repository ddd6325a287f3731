package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

const killRounds = 50

// TestFiftyKills kills the real binary at random moments under load, fifty times, and then checks what is left: no
// torn WARC, no URI lost, no capture missing that the log claims, and at most one repeated capture for each slot and
// kill.
func TestFiftyKills(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	killUnderLoad(&trial{T: t}, startKillSite(t), killRounds)
}

// killUnderLoad kills a daemon under load a number of times.
func killUnderLoad(t *trial, site *killSite, kills int) {
	dir := t.TempDir()
	binary := built.In(t.T, dir)
	path := filepath.Join(dir, "arcrawl.toml")
	main := strings.Replace(site.toml(), "[warc]\n", "[warc]\nseries_names = [\"contract\", \"embargo\"]\n", 1)
	daemontest.WriteFile(t.T, path, main+"[dedup]\nmin_size = \"0B\"\n")
	series := map[string]string{site.hosts[0]: "contract", site.hosts[1]: "embargo"}
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for host, name := range series {
		file := filepath.Join(dir, "hosts.d", name+".toml")
		daemontest.WriteFile(t.T, file, fmt.Sprintf("host = %q\n[warc]\nseries = %q\n", host, name))
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed: %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for t.faults < kills {
		d := site.start(t.T, binary, path)
		asked := site.asked.Load()
		site.waitFor(t.T, d, asked+1+random.Int64N(200))
		d.Kill(t.T)
		if t.Failed() {
			t.Fatalf("stopped in round %d", t.faults)
		}
		t.faults++
	}
	d := site.start(t.T, binary, path)
	asked := site.asked.Load()
	site.waitFor(t.T, d, asked+2*site.uriCount())
	d.Terminate(t.T)
	examine(t, dir, site, kills)
	examineIndex(t.T, filepath.Join(dir, "warc"))
	examineSeries(t.T, filepath.Join(dir, "warc"), series)
}

// examineSeries checks that the records of each host are in the files of its series, and that no record refers to one
// in another series.
func examineSeries(t *testing.T, dir string, series map[string]string) {
	t.Helper()
	of, records := warcout.SeriesIn("arcrawl"), map[string][]archivetest.CheckedRecord{}
	for _, r := range archivetest.CheckDir(t, dir) {
		in := of(r.File)
		records[in] = append(records[in], r)
		if u, err := uri.Parse(r.Target()); err == nil && series[u.Authority()] != in {
			t.Errorf("%s is in %s", r.Target(), r.File)
		}
	}
	for in, all := range records {
		if err := archivetest.CheckRecords(all); err != nil {
			t.Errorf("the series %q alone: %v", in, err)
		}
	}
	if len(records) != len(series)+1 {
		t.Errorf("there are %d series, want %d", len(records), len(series)+1)
	}
}

// examineIndex compares the live index with an index that is built from the files. Both must have the same lines.
func examineIndex(t *testing.T, dir string) {
	t.Helper()
	places := func(text string) map[string]int {
		found := map[string]int{}
		for line := range strings.Lines(text) {
			e, err := index.ParseEntry(line)
			if err != nil {
				t.Fatal(err)
			}
			found[fmt.Sprintf("%s@%d %s %s", e.Filename, e.Offset, e.Timestamp, e.URL)]++
		}
		return found
	}
	var made bytes.Buffer
	if _, err := index.Build(t.Context(), []string{dir}, index.Options{}, &made,
		func(f warc.Finding) error { return &f }); err != nil {
		t.Fatal(err)
	}
	kept := ""
	for _, name := range []string{"index.cdxj", "recent.cdxj", "live.cdxj"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		kept += string(text)
	}
	if diff := cmp.Diff(places(made.String()), places(kept)); diff != "" {
		t.Errorf("the live index differs from one built from the files (-built +live):\n%s", diff)
	}
}
