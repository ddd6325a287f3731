package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/arcrawl/arcrawl/config"
)

var unreadable = []struct {
	name string
	make func(t *testing.T, main string) // after a whole main file was written
	want string
}{
	{
		name: "no main file", want: `arcrawl.toml: does not exist; check the path`,
		make: func(t *testing.T, main string) { check(t, os.Remove(main)) },
	},
	{
		name: "a folder for a main file", want: `arcrawl.toml: is not a regular file; put a regular file there, or rename it`,
		make: func(t *testing.T, main string) { check(t, os.Remove(main)); check(t, os.Mkdir(main, 0o755)) },
	},
	{
		name: "a pipe for a host file", want: `hosts.d/a.example.toml: is not a regular file; put a regular file there, or rename it`,
		make: func(t *testing.T, main string) {
			dir := filepath.Join(filepath.Dir(main), "hosts.d")
			check(t, os.Mkdir(dir, 0o755))
			check(t, syscall.Mkfifo(filepath.Join(dir, "a.example.toml"), 0o644))
		},
	},
	{
		name: "a broken link for a host file", want: `hosts.d/a.example.toml: does not exist; check the path`,
		make: func(t *testing.T, main string) {
			dir := filepath.Join(filepath.Dir(main), "hosts.d")
			check(t, os.Mkdir(dir, 0o755))
			check(t, os.Symlink("nowhere", filepath.Join(dir, "a.example.toml")))
		},
	},
	{
		name: "a file for the folder of host files", want: `arcrawl.toml:1:1: storage.hosts: "hosts.d" is not a folder; name a folder`,
		make: func(t *testing.T, main string) {
			check(t, os.WriteFile(filepath.Join(filepath.Dir(main), "hosts.d"), nil, 0o644))
		},
	},
	{
		name: "a main file that is too large", want: `arcrawl.toml: is larger than 1 MiB; check the file name, or move seeds into host files`,
		make: func(t *testing.T, main string) { check(t, os.Truncate(main, 1<<20+1)) },
	},
	{
		name: "a main file without permission", want: `arcrawl.toml: is not readable; permit the user that runs arcrawl to read it`,
		make: func(t *testing.T, main string) {
			if os.Geteuid() == 0 {
				t.Skip("root may read everything; run this test as another user")
			}
			check(t, os.Chmod(main, 0))
		},
	},
}

func TestUnreadableFilesAreFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range unreadable {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			main := folder(t, map[string]string{"arcrawl.toml": operator})
			tt.make(t, main)
			c, err := config.Load(main)
			var faults config.Faults
			if c != nil || !errors.As(err, &faults) {
				t.Fatalf("Load = %v, %v; want no Config and Faults", c, err)
			}
			got := strings.ReplaceAll(err.Error(), filepath.Dir(main)+"/", "")
			if got != tt.want {
				t.Errorf("Load = %q\n want %q", got, tt.want)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNamesOfFilesCannotMislead loads a folder with files whose names have characters that forge lines of a log or
// control a terminal. They are skipped, with a warning that shows them escaped. Over the network they are refused.
func TestNamesOfFilesCannotMislead(t *testing.T) {
	t.Parallel()
	files := map[string]string{"arcrawl.toml": operator, "hosts.d/good.example.toml": "title = \"good\"\n"}
	names := []string{"a\nerror.toml", "b\x1b[31m.toml", "c\u202e.toml", "d\r.TOML", "e\xff.toml"}
	for i, name := range names {
		files["hosts.d/"+name] = fmt.Sprintf("host = \"h%d.example\"\ntitle = 5\n", i)
	}
	path := folder(t, files)
	c, err := config.Load(path)
	if err != nil {
		t.Fatalf("the faults of files that are not read are reported: %q", err)
	}
	if len(c.HostFiles()) != 1 || len(c.Warnings) < len(names) {
		t.Errorf("%d files are read, the warnings are %v", len(c.HostFiles()), c.Warnings)
	}
	for _, w := range c.Warnings {
		if strings.ContainsFunc(w.String(), unicode.IsControl) || strings.Contains(w.String(), "\u202e") {
			t.Errorf("the warning %q is not escaped", w)
		}
	}
	for _, name := range names {
		texts := c.Texts()
		texts[name] = []byte("host = \"x.example\"\n")
		if _, err := config.LoadTexts(path, texts); err == nil || !strings.Contains(err.Error(), "would contain the file") {
			t.Errorf("%q is accepted: %v", name, err)
		}
	}
}

// TestADatabaseElsewhereIsEncrypted loads addresses of databases here and on other machines.
func TestADatabaseElsewhereIsEncrypted(t *testing.T) {
	t.Parallel()
	for database, exposed := range map[string]bool{
		"postgres://arcrawl@127.0.0.1:5433/arcrawl": false, "postgres://arcrawl@[::1]:5432/arcrawl": false,
		"postgres://arcrawl@localhost/arcrawl": false, "postgres://arcrawl@%2Fvar%2Frun%2Fpostgresql/arcrawl": false,
		"postgres://[::1]/arcrawl":                                                  false,
		"postgres://arcrawl@db.example/arcrawl?sslmode=verify-full":                 false,
		"postgres://arcrawl@db1:5432,db2/arcrawl?a=b&sslmode=verify-full":           false,
		"postgres://arcrawl@db.example/arcrawl":                                     true,
		"postgres://arcrawl@db.example/arcrawl?sslmode=require":                     true,
		"postgres://arcrawl@db.example/arcrawl?sslmode=disable&sslmode=verify-full": true,
		"postgres://arcrawl@db.example/sslmode=verify-full":                         true,
		"postgres://arcrawl@localhost,db2/arcrawl":                                  true,
		"postgres://arcrawl@localhost.example/arcrawl":                              true,
		"postgres://arcrawl@localhost/arcrawl?host=db.example":                      true,
		"postgres://arcrawl@localhost/arcrawl?hostaddr=10.0.0.1":                    true,
		"postgres://10.0.0.1/arcrawl":                                               true,
	} {
		text := operator + fmt.Sprintf("[cluster]\nnode = \"a\"\ndatabase = %q\n", database)
		_, err := config.Load(folder(t, map[string]string{"arcrawl.toml": text}))
		if exposed != (err != nil && strings.Contains(err.Error(), "without encryption")) {
			t.Errorf("%s: %v", database, err)
		}
		c, err := config.Load(folder(t, map[string]string{"arcrawl.toml": text + "insecure_database = true\n"}))
		check(t, err)
		isWarning := func(w config.Fault) bool { return w.Key == "cluster.insecure_database" }
		if exposed != slices.ContainsFunc(c.Warnings, isWarning) {
			t.Errorf("%s, permitted: the warnings are %v", database, c.Warnings)
		}
	}
}

func TestFaultsOfOneFileAreBounded(t *testing.T) {
	t.Parallel()
	_, err := config.Load(folder(t, map[string]string{
		"arcrawl.toml": operator + "[seeds]\nuris = [" + strings.Repeat("5,\n", 1000) + "]\n",
	}))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 101 || !strings.HasSuffix(lines[100], "arcrawl.toml: 900 more faults not shown; fix these first") {
		t.Errorf("%d lines, the last %q; want 101, the last saying that 900 are not shown", len(lines), lines[len(lines)-1])
	}
}

// TestHostileNestingIsRefused guards against decoders that need excessive time or memory.
func TestHostileNestingIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"lists":         "a = " + strings.Repeat("[", 400_000),
		"closed lists":  "a = " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"inline tables": "a = " + strings.Repeat("{a=", 9_000) + "1" + strings.Repeat("}", 9_000),
		"dotted key":    "a" + strings.Repeat(".a", 500_000) + " = 1",
		"table name":    "[a" + strings.Repeat(".a", 500_000) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(folder(t, map[string]string{"arcrawl.toml": text}))
			if err == nil || !strings.Contains(err.Error(), "nested too deeply") {
				t.Errorf("Load = %v, want that it is nested too deeply", err)
			}
		})
	}
}
