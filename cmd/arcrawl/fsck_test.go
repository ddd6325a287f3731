package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

func TestFsckNamesTheDamage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		code  int
		words []string
	}{
		{"an undamaged store", func(*testing.T, string) {}, cli.ExitOK, []string{"is undamaged: 2 URIs on 1 host"}},
		{
			"a table with a turned bit", func(t *testing.T, dir string) {
				name := one(t, filepath.Join(dir, "*.sst"))
				b := readText(t, name)
				daemontest.WriteFile(t, name, b[:40]+string(b[40]^1)+b[41:])
			}, cli.ExitDamaged, []string{"000001.sst", "A file of the store is damaged", "arcrawl backup restore --rebuild", "smartctl"},
		},
		{
			"a table that is gone", func(t *testing.T, dir string) {
				if err := os.Remove(one(t, filepath.Join(dir, "*.sst"))); err != nil {
					t.Fatal(err)
				}
			}, cli.ExitDamaged, []string{"000001.sst", "no such file"},
		},
		{
			"a manifest that is gone", func(t *testing.T, dir string) {
				if err := os.Remove(filepath.Join(dir, "MANIFEST")); err != nil {
					t.Fatal(err)
				}
			}, cli.ExitDamaged, []string{"1 tables, but no MANIFEST", "nothing in the store can be trusted"},
		},
		{
			"a place in the queue without its URI", func(t *testing.T, dir string) { drop(t, dir, 'u') },
			cli.ExitDamaged,
			[]string{"a place in the queue of host 1, due 20", "its URI is missing", "counted 2 URIs"},
		},
		{
			"a URI without its place", func(t *testing.T, dir string) { drop(t, dir, 'q') },
			cli.ExitDamaged,
			[]string{"has no place in the queue", "never be visited"},
		},
		{
			"a host that is gone", func(t *testing.T, dir string) { drop(t, dir, 'h') },
			cli.ExitDamaged,
			[]string{"its host is not known"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			conf := stock(t, "http://a.example/1", "http://a.example/2")
			dir := filepath.Join(filepath.Dir(conf), "state")
			test.spoil(t, dir)
			code, out, errs := command("check", "--store", "--config", conf)
			if code != test.code {
				t.Fatalf("exit code %d, want %d:\n%s%s", code, test.code, out, errs)
			}
			for _, word := range test.words {
				if !strings.Contains(out+errs, word) {
					t.Errorf("the output lacks %q:\n%s%s", word, out, errs)
				}
			}
		})
	}
}

func TestFsckLeavesARunningDaemonAlone(t *testing.T) {
	t.Parallel()
	conf := stock(t)
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(filepath.Dir(conf), "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if code, _, errs := command("check", "--store", "--config", conf); code != cli.ExitBusy || !strings.Contains(errs, "stop the daemon") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// one returns the only file that matches a pattern.
func one(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	return names[0]
}

// drop removes the first key of a kind without the frontier.
func drop(t *testing.T, dir string, kind byte) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}})
		it.Rewind()
		k := it.Item().KeyCopy(nil)
		it.Close()
		return txn.Delete(k)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
