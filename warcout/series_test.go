package warcout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// in returns a visit that is written to a series.
func in(series string, v Visit) Visit {
	v.Series = series
	return v
}

func TestEachSeriesHasFilesOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, MaxSize: 20_000, MaxAge: time.Hour, Info: []Field{{"isPartOf", "News"}}})
	for i := range 4 {
		mustWrite(t, w, start, in("", visit(address(i), noise(i, 1000))))
		mustWrite(t, w, start, in("embargo", visit(address(10+i), noise(i, 9000))))
	}
	later := start.Add(30 * time.Minute)
	out, err := w.WriteLookup(later, Lookup{Series: "contract", Host: "c.example", Date: later})
	if err != nil || !strings.HasPrefix(out.Origin.File, "arcrawl-contract-2026") {
		t.Errorf("a look-up of a series is in %q, %v", out.Origin.File, err)
	}
	var growing []string
	for _, g := range w.Growing() {
		growing = append(growing, g.Name[:len("arcrawl-embargo")])
	}
	if diff := cmp.Diff([]string{"arcrawl-2026112", "arcrawl-contrac", "arcrawl-embargo"}, growing); diff != "" {
		t.Errorf("growing files (-want +got):\n%s", diff)
	}
	must(t, w.Rotate(start.Add(time.Hour)))
	if g := w.Growing(); len(g) != 1 || g[0].Name != out.Origin.File {
		t.Errorf("after the age of the first files %v are growing, want %s alone", g, out.Origin.File)
	}
	must(t, w.Close(later))
	want := map[string][]string{
		"": {address(0), address(1), address(2), address(3)}, "embargo": {address(10), address(11), address(12), address(13)},
		"contract": {"dns:c.example"},
	}
	got, files := map[string][]string{}, map[string][]string{}
	for _, k := range readDir(t, dir) {
		series := SeriesIn("arcrawl")(k.file)
		switch k.get("WARC-Type") {
		case "warcinfo":
			files[series] = append(files[series], k.file)
			if has := strings.Contains(string(k.block), "isPartOf: News\r\n"); !has {
				t.Errorf("the warcinfo record of %s lacks the collection", k.file)
			}
			if has := strings.Contains(string(k.block), "isPartOf: "+series+"\r\n"); has != (series != "") {
				t.Errorf("the warcinfo record of %s names its series: %t", k.file, has)
			}
		case "response":
			got[series] = append(got[series], k.get("WARC-Target-URI"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("responses of each series (-want +got):\n%s", diff)
	}
	if len(files[""]) != 1 || len(files["embargo"]) != 2 {
		t.Errorf("files %v: a file is sealed by its own size", files)
	}
}

func TestSeriesOfFiles(t *testing.T) {
	t.Parallel()
	const rest = "20261121090000123-00001-c1.warc.gz"
	for file, want := range map[string]string{
		"kb-news-" + rest: "", "kb-news-embargo-" + rest: "embargo", "kb-news-e2_x-" + rest: "e2_x",
		"kb-" + rest: "", "kb-embargo-" + rest: "", "kb-news-a-b-" + rest: "", "kb-news-embargo-2026.warc.gz": "",
		"kb-newsembargo-" + rest: "", "2019.wacz/archive/kb-news-embargo-" + rest: "", "kb-news-": "", "": "",
	} {
		if got := SeriesIn("kb-news")(file); got != want {
			t.Errorf("%s is in the series %q, want %q", file, got, want)
		}
	}
	w, _ := opened(t, Options{Dir: t.TempDir()})
	for _, name := range []string{"../x", "a-b", "A", "1", strings.Repeat("a", 33)} {
		if _, err := w.Write(start, in(name, visit(address(1), page("x")))); !errors.Is(err, ErrRefused) {
			t.Errorf("a visit to the series %q: %v", name, err)
		}
	}
}

// Curators may rename series every day: files of earlier names must not stay open.
func TestFewFilesAreOpen(t *testing.T) {
	t.Parallel()
	w, _ := opened(t, Options{Dir: t.TempDir()})
	for i := range 3 * MaxSeries {
		mustWrite(t, w, start, in(fmt.Sprintf("s%d", i), visit(address(i), page("x"))))
		if n := len(w.Growing()); n > MaxSeries+1 {
			t.Fatalf("%d files are open", n)
		}
	}
}

func TestACrashIsRepairedInEachSeries(t *testing.T) {
	t.Parallel()
	before, dir := t.TempDir(), t.TempDir()
	w, _ := opened(t, Options{Dir: before})
	series := []string{"", "contract", "embargo"}
	for i, s := range series {
		mustWrite(t, w, start, in(s, visit(address(i), page("x"))))
		mustWrite(t, w, start, in(s, visit(address(i+10), page("y"))))
	}
	for _, name := range namesIn(t, before) {
		data, err := os.ReadFile(filepath.Join(before, name))
		must(t, err)
		put(t, dir, name, string(data[:len(data)-1]))
		if strings.Contains(name, "contract") { // a name that is taken
			put(t, dir, strings.TrimSuffix(name, openSuffix), "mine")
		}
	}
	_, repairs := opened(t, Options{Dir: dir})
	var sealed []string
	for _, r := range repairs {
		if r.Kind != Cut {
			t.Errorf("found %v", r)
		}
		sealed = append(sealed, SeriesIn("arcrawl")(r.Sealed))
	}
	slices.Sort(sealed)
	if diff := cmp.Diff(series, sealed); diff != "" {
		t.Errorf("series of the repaired files (-want +got):\n%s", diff)
	}
}
