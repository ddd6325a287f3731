package config_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config"
)

var update = flag.Bool("update", false, "rewrite the expected messages and docs/config.md")

// badCases returns the main files under testdata/bad: single files, and files in folders with host files.
func badCases(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob("testdata/bad/*/arcrawl.toml")
	if err != nil {
		t.Fatal(err)
	}
	return append(files, folders...)
}

func TestEachBadFileIsExplained(t *testing.T) {
	t.Parallel()
	cases := badCases(t)
	if len(cases) < 30 {
		t.Fatalf("%d cases, want at least 30", len(cases))
	}
	for _, path := range cases {
		name := strings.TrimSuffix(strings.TrimSuffix(path, "/arcrawl.toml"), ".toml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(path)
			var faults config.Faults
			if c != nil || !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("Load(%s) = %v, %v; want no Config and Faults", path, c, err)
			}
			got := strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", "") + "\n"
			if *update {
				if err := os.WriteFile(name+".want", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

func TestEachFaultHasPositionAndRemedy(t *testing.T) {
	t.Parallel()
	for _, path := range badCases(t) {
		_, err := config.Load(path)
		var faults config.Faults
		if !errors.As(err, &faults) {
			t.Fatalf("Load(%s) = %v; want Faults", path, err)
		}
		for _, f := range faults {
			if f.File == "" || f.Problem == "" || f.Remedy == "" {
				t.Errorf("%s: %#v lacks file, problem or remedy", path, f)
			}
			if f.Line == 0 != (f.Column == 0) {
				t.Errorf("%s: %#v has a line without a column", path, f)
			}
			if strings.ContainsAny(f.String(), "\n\x1f") {
				t.Errorf("%s: %q is more than a line", path, f)
			}
		}
	}
}

// TestEachExpectationHasACase finds expectations whose case was removed.
func TestEachExpectationHasACase(t *testing.T) {
	t.Parallel()
	wants, err := filepath.Glob("testdata/bad/*.want")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		name := strings.TrimSuffix(want, ".want")
		_, fileErr := os.Stat(name + ".toml")
		_, folderErr := os.Stat(name)
		if errors.Is(fileErr, fs.ErrNotExist) && errors.Is(folderErr, fs.ErrNotExist) {
			t.Errorf("%s has no case", want)
		}
	}
}
