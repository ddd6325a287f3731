package archive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// article returns a page with navigation around an article.
func article(headline, text string) string {
	return `<!doctype html><title>` + headline + ` - The Example</title><nav><a href="/">Home</a> <a href="/sport">Sport</a></nav>
		<main><article><h1>` + headline + `</h1><p rel="author">Anna Example</p>
		<time itemprop="datePublished" datetime="2026-11-21T08:00:00Z"></time><p>` + strings.Repeat(text+" ", 12) + `</p>
		<p>The council meets again on Monday.</p></article></main><footer>Imprint of the example</footer>`
}

// textsIn returns the lines of the texts in a folder, shortened.
func textsIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+textsSuffix))
	archivetest.Must(t, err)
	for _, name := range files {
		f, err := os.Open(name)
		archivetest.Must(t, err)
		z, err := gzip.NewReader(f)
		archivetest.Must(t, err)
		for lines := bufio.NewScanner(z); lines.Scan(); {
			var l textLine
			archivetest.Must(t, json.Unmarshal(lines.Bytes(), &l))
			begin, _, _ := strings.Cut(l.Text, ".")
			all = append(all, fmt.Sprintf("%s %d %s | %s | %s", l.URI, l.Version, l.Time.Format("15:04"), l.Headline, begin))
		}
		archivetest.Must(t, f.Close())
	}
	return all
}

// A researcher gets a line for each version of an article, and none for visits that found it unchanged, for pictures,
// or for the answer that it is gone.
func TestResearchersGetTheTextOfEachVersion(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	const page = "http://www.news.example/council"
	first := l.Page(page, archivetest.HTMLHead, article("Mayor resigns", "The mayor has resigned"))
	l.Revisit(page, archivetest.HTMLHead, first)
	l.Page(page, archivetest.HTMLHead, article("Mayor may resign", "The mayor thinks about it"))
	l.Revisit(page, archivetest.HTMLHead, first) // the first headline is back
	l.Page(page, "HTTP/1.1 410 Gone\r\nContent-Type: text/html", "gone")
	l.Page("http://www.news.example/p.png", "HTTP/1.1 200 OK\r\nContent-Type: image/png", "\x89PNG")
	l.Page("http://other.example/", archivetest.HTMLHead, article("Elsewhere", "Another host"))
	l.Seal()
	dir := t.TempDir()
	choice := []string{"extract", "--texts", "-o", dir, "--host", "www.news.example", l.Dir}
	line{choice, cli.ExitOK, []string{"3 texts of", "1 new file"}}.run(t)
	want := []string{
		page + " 1 09:00 | Mayor resigns | The mayor has resigned The mayor has resigned",
		page + " 2 11:00 | Mayor may resign | The mayor thinks about it",
		page + " 3 12:00 | Mayor resigns | The mayor has resigned The mayor has resigned",
	}
	got := textsIn(t, dir)
	for i := range got {
		got[i] = got[i][:min(len(got[i]), len(want[min(i, len(want)-1)]))]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}

	all := fmt.Sprint(foreign.DuckDB(t, `SELECT version, headline, author, published::VARCHAR, text LIKE '%Imprint%',
		"offset" > 0 FROM read_json_auto('`+dir+`/*.jsonl.gz') ORDER BY "time" LIMIT 1`))
	if !strings.Contains(all, "Mayor resigns Anna Example 2026-11-21 08:00:00") || !strings.HasSuffix(all, "false true]]") {
		t.Errorf("DuckDB reads %s", all)
	}
}

// A run in the next night reads only the new files, numbers continue, and another choice needs another folder.
func TestTextsGoOnWhereTheyEnded(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	const page = "http://www.news.example/council"
	l.Page(page, archivetest.HTMLHead, article("Mayor resigns", "The mayor has resigned"))
	l.Seal()
	l.Page(page, archivetest.HTMLHead, article("Mayor may resign", "The mayor thinks about it"))
	dir := t.TempDir()
	run := []string{"extract", "--texts", "--all", "-o", dir, l.Dir}
	line{run, cli.ExitOK, []string{"1 text of", "the daemon still writes 1 WARC file"}}.run(t)
	l.Seal()
	line{run, cli.ExitOK, []string{"1 text of", "1 new file; 1 file there before"}}.run(t)
	line{run, cli.ExitOK, []string{"0 texts", "2 files there before"}}.run(t)
	if got := textsIn(t, dir); len(got) != 2 || !strings.Contains(got[1], " 2 10:00 | Mayor may resign") {
		t.Errorf("texts: %q", got)
	}
	line{
		[]string{"extract", "--texts", "--host", "other.example", "-o", dir, l.Dir},
		cli.ExitFailure,
		[]string{"has the texts of another choice: all records; name another folder"},
	}.run(t)
	line{append(run, "--revisits", "keep"), cli.ExitUsage, []string{"--texts and --revisits"}}.run(t)
}

// A version whose record is damaged, and a page on which nothing can be found, take nothing away from the others.
func TestTextsOfADamagedArchive(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	l.Page("http://a.example/1", archivetest.HTMLHead, article("Mayor resigns", "The mayor has resigned"))
	broken := l.Page("http://a.example/2", archivetest.HTMLHead, article("Broken", "This is broken"))
	l.Page("http://a.example/3", archivetest.HTMLHead, strings.Repeat("<div>", 5000)+"deep\x00\xff")
	l.Seal()
	line{[]string{"index", "-o", filepath.Join(l.Dir, "index.cdxj"), l.Dir}, cli.ExitOK, nil}.run(t)
	name := filepath.Join(l.Dir, broken.File)
	info, err := os.Stat(name)
	archivetest.Must(t, err)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	archivetest.Must(t, err)
	_, err = f.WriteAt([]byte("damage"), broken.Offset+100)
	archivetest.Must(t, err)
	archivetest.Must(t, errors.Join(f.Close(), os.Chtimes(name, info.ModTime(), info.ModTime()))) // the index covers it
	dir := t.TempDir()
	line{[]string{"extract", "--texts", "--all", "-o", dir, l.Dir}, cli.ExitDamaged, []string{"2 texts", "its text cannot be read"}}.run(t)
	if got := textsIn(t, dir); len(got) != 2 || !strings.Contains(got[0], "Mayor resigns") {
		t.Errorf("texts: %q", got)
	}
}
