package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config"
)

const seeded = "[seeds]\nuris = [\"https://a.example/\"]\n"

var warnings = []struct {
	name, main string
	hosts      []string
	want       string // without the folder
}{
	{name: "a plain configuration has no warnings", main: seeded},
	{name: "no seeds", want: `arcrawl.toml: seeds.uris: there are no seeds in any file; only URIs that are already in the store will be visited`},
	{
		name: "a seed listed twice in one file", main: "[seeds]\nuris = [\"https://a.example/\", \"https://A.example/#x\"]\n",
		want: `arcrawl.toml:2:31: seeds.uris: "https://A.example/#x" is already listed in arcrawl.toml:2; remove one`,
	},
	{
		name: "a seed listed in two files", main: seeded, hosts: []string{
			"a.example.toml", "\n\nseeds.uris = [\"https://a.example/\"]\n",
		},
		want: `hosts.d/a.example.toml:3:15: seeds.uris: "https://a.example/" is already listed in arcrawl.toml:2; remove one`,
	},
	{
		name: "a pattern that forgets parameters", main: seeded + "[[wait]]\nmime = '^text/html'\n",
		want: `arcrawl.toml:4:8: wait.mime: "^text/html" matches "text/html" but not "text/html; charset=utf-8"; it must match the whole value; end it with ".*"`,
	},
	{
		name: "waits outside their own bounds", main: seeded + "[[wait]]\nmime = '.*'\ninitial = \"30m\"\nunknown = \"60d\"\n",
		want: `arcrawl.toml:5:11: wait.initial: "30m" is less than wait.min, "1h" by default; wait.min applies; lower wait.min, or raise this value` + "\n" +
			`arcrawl.toml:6:11: wait.unknown: "60d" is more than wait.max, "28d" by default; wait.max applies; raise wait.max, or lower this value`,
	},
	{
		name: "prefixes without a scope by prefix", main: seeded + "[scope]\nprefixes = [\"https://a.example/\"]\n",
		hosts: []string{"a.example.toml", "[scope]\nprefixes = [\"https://a.example/\"]\n"},
		want: `arcrawl.toml:4:12: scope.prefixes: have no effect with scope.by = "host"; set by = "prefix" too` + "\n" +
			`hosts.d/a.example.toml:2:12: scope.prefixes: have no effect with scope.by = "host"; set by = "prefix" too`,
	},
	{
		name: "prefixes that a host file uses", main: seeded + "[scope]\nprefixes = [\"https://a.example/\"]\n",
		hosts: []string{"a.example.toml", "[scope]\nby = \"prefix\"\n"},
	},
	{
		name: "a scope that admits nothing", main: seeded, hosts: []string{"b.example.toml", "[scope]\nby = \"prefix\"\n"},
		want: `hosts.d/b.example.toml:2:6: scope.by: "prefix" admits nothing, because the host has neither prefixes nor seeds; set scope.prefixes`,
	},
	{
		name: "networks that are everything", main: seeded + "[fetch]\nallow_networks = [\"0.0.0.0/0\"]\n",
		want: `arcrawl.toml:4:19: fetch.allow_networks: "0.0.0.0/0" switches off the protection of private networks; name the networks that are needed`,
	},
	{
		name: "an archive inside the store", main: seeded + "[storage]\nwarc = \"state/warc\"\n",
		want: `arcrawl.toml:4:8: storage.warc: "state/warc" is inside storage.state, which must contain nothing but the store; move it out`,
	},
	{
		name: "seeds due more often than politeness permits", main: "[politeness]\nmin_delay = \"30s\"\n[[wait]]\nmime = \".*\"\nmin = \"1m\"\n[seeds]\nuris = [\"https://a.example/\", \"https://a.example/b\", \"https://a.example/c\"]\n",
		want: `arcrawl.toml:7:1: seeds.uris: 3 seeds of a.example can be due 3 times a minute by wait.min, but politeness.min_delay "30s" permits at most 2 visits; ` +
			`raise wait.min, or lower min_delay if the site agrees; until then visits are late`,
	},
	{
		name: "refinements that can never hold", main: seeded + "[[when]]\nuri = '^/live/'\nscope = { max_hops = 3 }\n",
		hosts: []string{"a.example.toml", "[[when]]\nuri = '^https://b[.]example/'\nscope = { max_hops = 3 }\n[[when]]\nuri = '^https://a.example/live/'\nscope = { max_hops = 3 }\n" +
			"[[when]]\nuri = '^https://b\\.example/x'\nscope = { max_hops = 3 }\n"},
		want: `arcrawl.toml:4:7: when.uri: "^/live/" can never match: a URI begins with http:// or https://; remove the ^, or begin with the scheme of the URI` + "\n" +
			`hosts.d/a.example.toml:2:7: when.uri: "^https://b[.]example/" can never match: this file is for a.example; move it to the file of that host or to the main file` + "\n" +
			`hosts.d/a.example.toml:8:7: when.uri: "^https://b\\.example/x" can never match: this file is for a.example; move it to the file of that host or to the main file`,
	},
	{
		name: "a host file by another extension", main: seeded,
		hosts: []string{
			"A.TOML", "[[", "b.toml.txt", "[[", "c.toml~", "[[", ".d.toml", "[[", "e.toml.tmp", "[[", "README", "[[",
		},
		want: `hosts.d/A.TOML: is skipped; end its name with ".toml" to have it read` + "\n" +
			`hosts.d/b.toml.txt: is skipped; end its name with ".toml" to have it read`,
	},
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range warnings {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, tt.main, tt.hosts...)
			got := strings.ReplaceAll(config.Faults(c.Warnings).Error(), filepath.Dir(c.Path)+"/", "")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

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
