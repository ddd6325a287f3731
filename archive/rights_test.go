package archive

import (
	"archive/zip"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	aboutPress = `[{ title = "The Press", rights = "legal deposit" }, ` +
		`{ series = "embargo", title = "Contracts", access = "reading room", embargo = "2031-01-01" }]`
	pressSettings = "[warc]\nseries_names = [\"embargo\"]\nabout = " + aboutPress + "\n"
)

// describedArchive returns an archive whose files say who may see them, as the daemon writes it with a configuration.
func describedArchive(t *testing.T) string {
	t.Helper()
	path, _ := daemontest.Configure(t, daemontest.Settled+pressSettings)
	c, err := config.Load(path)
	archivetest.Must(t, err)
	l := archivetest.New(t)
	l.Describe(func(series string) []warcout.Field { return partFields(c.PartOf(series)) })
	l.Page("http://open.example/", archivetest.HTMLHead, "<p>for all</p>")
	l.Series = "embargo"
	l.Page("http://secret.example/", archivetest.HTMLHead, "<p>not yet</p>")
	l.Seal()
	return l.Dir
}

// What the configuration says of a series is in its files, and in what is made of them.
func TestPackagesSayWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	dir := describedArchive(t)
	out := t.TempDir()
	line{[]string{"wacz", "-o", out + "/open.wacz", "--series", "-", dir}, cli.ExitOK, nil}.run(t)
	line{[]string{"wacz", "-o", out + "/embargo.wacz", "--self-contained", "--title", "Ours", "--series", "embargo", dir}, cli.ExitOK, nil}.run(t)
	type descriptor struct{ Title, Rights, AccessRights, Available string }
	for name, want := range map[string]descriptor{
		"open.wacz":    {Title: "The Press", Rights: "legal deposit"},
		"embargo.wacz": {Title: "Ours", AccessRights: "reading room", Available: "2031-01-01"},
	} {
		z, err := zip.OpenReader(filepath.Join(out, name))
		archivetest.Must(t, err)
		defer z.Close() //nolint:errcheck // nothing was written
		f, err := z.Open("datapackage.json")
		archivetest.Must(t, err)
		text, err := io.ReadAll(f)
		archivetest.Must(t, err)
		var got descriptor
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s says %+v, want %+v, %v", name, got, want, err)
		}
		file := archivetest.Save(t, "datapackage.json", text)
		if faults := foreign.DataPackage(t, file); len(faults) > 0 {
			t.Errorf("the descriptor of %s has the faults %q", name, faults)
		}
	}
	bag := filepath.Join(out, "bag")
	line{[]string{"bag", "-o", bag, "--premis", "--series", "embargo", dir}, cli.ExitOK, nil}.run(t)
	for _, want := range []string{"<restriction>reading room</restriction>", "Not before 2031-01-01"} {
		if text := archivetest.Read(t, filepath.Join(bag, premisName)); !strings.Contains(text, want) {
			t.Errorf("the description in the bag lacks %s:\n%s", want, text)
		}
	}
}

// The daemon writes it into each file.
func TestFilesSayWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	l := crawled(t, func(_, main string) string { return pressSettings + main })
	if text := string(archivetest.Unzipped(t, l.Files(t)[0])); !strings.Contains(text, "title: The Press\r\nrights: legal deposit\r\n") {
		t.Errorf("%s does not say who may see it:\n%.3000s", l.Files(t)[0], text)
	}
}
