package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/arcrawl/arcrawl/config"
)

// TestFilesAreAnswered loads the files of each archive in testdata/answers; an operator is added to the main file. The
// last file of the archive has what is said of the others: their faults, or else all warnings.
func TestFilesAreAnswered(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/answers/*.txt")
	if err != nil || len(cases) < 30 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, path := range cases {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			want := &archive.Files[len(archive.Files)-1]
			for _, f := range archive.Files[:len(archive.Files)-1] {
				files[f.Name] = string(f.Data)
			}
			files["arcrawl.toml"] += operator
			main := folder(t, files)
			c, err := config.Load(main)
			if err == nil {
				err = config.Faults(c.Doubts(at(t, "12:00"), nil))
			}
			got := strings.ReplaceAll(err.Error()+"\n", filepath.Dir(main)+"/", "")
			if got = strings.TrimPrefix(got, "\n"); *update {
				want.Data = []byte(got)
				check(t, os.WriteFile(path, txtar.Format(archive), 0o644))
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
