package archive

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// embargoed returns a folder with a file of no series and one of the series embargo.
func embargoed(t *testing.T) (dir, open, series string) {
	t.Helper()
	l := archivetest.New(t)
	l.Page("http://open.example/", archivetest.HTMLHead, "<p>for all</p>")
	l.Series = "embargo"
	o := l.Page("http://secret.example/", archivetest.HTMLHead, "<p>not yet</p>")
	l.Revisit("http://secret.example/", archivetest.HTMLHead, o)
	l.Seal()
	files := l.Files() // digits sort before letters
	if len(files) != 2 || captures.SeriesOf(files[1]) != "embargo" {
		t.Fatalf("the files are %q", files)
	}
	return l.Dir, files[0], files[1]
}

// hostsIn returns which of the two hosts the output of a command names, in its WARC files and elsewhere.
func hostsIn(t *testing.T, path, printed string) (hosts []string) {
	t.Helper()
	text := printed
	files, _ := warc.FilesAndPackages([]string{path})
	for _, f := range files {
		archivetest.Must(t, warc.EachRecord(t.Context(), f, nil, warc.NewFindings(f), func(rec *warc.Record) error {
			text += rec.Header.Target() + "\n"
			return rec.Close()
		}))
	}
	for _, host := range []string{"open.example", "secret.example"} {
		if strings.Contains(text, "/"+host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// seriesCommands are the commands that copy or list captures for others, with the file or folder that they make.
func seriesCommands(t *testing.T) map[string]func(args ...string) (line []string, made string) {
	t.Helper()
	out := func(name string) string { return filepath.Join(t.TempDir(), name) }
	return map[string]func(args ...string) ([]string, string){
		"index": func(args ...string) ([]string, string) { return append([]string{"index"}, args...), "" },
		"bag": func(args ...string) ([]string, string) {
			made := out("bag")
			return append([]string{"bag", "-o", made}, args...), made
		},
		"extract": func(args ...string) ([]string, string) {
			made := out("news")
			return append([]string{"extract", "--all", "-o", made}, args...), made
		},
		"wacz": func(args ...string) ([]string, string) {
			made := out("news.wacz")
			return append([]string{"wacz", "-o", made}, args...), made
		},
		"wacz --self-contained": func(args ...string) ([]string, string) {
			made := out("alone.wacz")
			return append([]string{"wacz", "--self-contained", "-o", made}, args...), made
		},
	}
}

// Somebody packs the folder of a crawl for the public. No command takes the embargoed series along unless it is named.
func TestAnEmbargoedSeriesLeavesOnlyByItsName(t *testing.T) {
	t.Parallel()
	dir, open, series := embargoed(t)
	for name, command := range seriesCommands(t) {
		args, made := command(dir)
		line{args, cli.ExitFailure, []string{
			"of several series: 1 file of no series (" + open + "), 1 file of the series embargo (" + series + ")",
			"choose with --series - or --series embargo",
		}}.run(t)
		if _, err := os.Lstat(made); made != "" && !os.IsNotExist(err) {
			t.Errorf("%s made %s", name, made)
		}
		for _, c := range []struct {
			flags []string
			want  []string
		}{
			{[]string{"--series", "-"}, []string{"open.example"}},
			{[]string{"--series", "embargo"}, []string{"secret.example"}},
			{[]string{"--series", "-", "--series", "embargo"}, []string{"open.example", "secret.example"}},
		} {
			args, made := command(append(c.flags, dir)...)
			printed, _ := line{args, cli.ExitOK, nil}.run(t)
			if made == "" {
				made = t.TempDir()
			}
			if got := hostsIn(t, made, printed); !slices.Equal(got, c.want) {
				t.Errorf("%v has %q, want %q", args, got, c.want)
			}
		}
		args, _ = command("--series", "contract", dir)
		line{args, cli.ExitFailure, []string{"no file is of a chosen series", "1 file of the series embargo"}}.run(t)
		args, _ = command("--series", "Embargo!", dir)
		line{args, cli.ExitUsage, []string{"warc.series_names"}}.run(t)
	}
}

// One series alone needs no flag: its folder, or its files by name.
func TestOneSeriesNeedsNoFlag(t *testing.T) {
	t.Parallel()
	dir, open, series := embargoed(t)
	line{[]string{"index", open}, cli.ExitOK, []string{"http://open.example/"}}.run(t)
	line{[]string{"index", series}, cli.ExitOK, []string{"http://secret.example/"}}.run(t)
	made := filepath.Join(t.TempDir(), "open")
	line{[]string{"extract", "--all", "--from", dir, "-o", made, open}, cli.ExitOK, []string{"1 file"}}.run(t)
	if got := hostsIn(t, made, ""); !slices.Equal(got, []string{"open.example"}) {
		t.Errorf("the copy of %s has %q", open, got)
	}
}

// Files that were renamed, extracted, packed or damaged stay in their series.
func TestAFileStaysInItsSeries(t *testing.T) {
	t.Parallel()
	dir, _, series := embargoed(t)
	refused := func(paths ...string) {
		t.Helper()
		line{
			append([]string{"extract", "--all", "-o", filepath.Join(t.TempDir(), "x")}, paths...), cli.ExitFailure,
			[]string{"of the series embargo"},
		}.run(t)
	}
	host, packs := filepath.Join(t.TempDir(), "host"), t.TempDir()
	line{[]string{"extract", "--host", "secret.example", "-o", host, series}, cli.ExitOK, nil}.run(t)
	line{[]string{"wacz", "-o", filepath.Join(packs, "x.wacz"), series}, cli.ExitOK, nil}.run(t)
	renamed := filepath.Join(filepath.Dir(series), "20261121.warc.gz")
	archivetest.Must(t, os.Rename(filepath.Join(host, filepath.Base(series)), filepath.Join(host, "a.warc.gz")))
	archivetest.Must(t, os.Rename(series, renamed))
	refused(dir)
	open := filepath.Join(dir, "open.warc.gz")
	archivetest.Must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".gz") && path != renamed {
			err = os.Rename(path, open)
		}
		return err
	}))
	refused(open, host)
	refused(open, packs)
	cut := filepath.Join(t.TempDir(), filepath.Base(series))
	daemontest.WriteFile(t, cut, archivetest.Read(t, renamed)[:100])
	refused(open, cut)
}

// The index of an open series is sent to a public server, without the embargoed one.
func TestAPushSendsOneSeries(t *testing.T) {
	t.Parallel()
	dir, _, _ := embargoed(t)
	server := archivetest.StartCDXServer(t)
	push := func(code int, flags ...string) {
		t.Helper()
		line{append(append([]string{"index", "--push", server.URL + "/crawl"}, flags...), dir), code, nil}.run(t)
	}
	push(cli.ExitFailure)
	if lines, posts := server.Seen(); posts != 0 {
		t.Fatalf("the server has %q", lines)
	}
	push(cli.ExitOK, "--series", "-")
	if lines, _ := server.Seen(); len(lines) != 1 || !strings.Contains(lines[0], "http://open.example/") {
		t.Errorf("the server has %q", lines)
	}
}
