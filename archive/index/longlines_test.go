package index

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLongMediaTypesAreCut(t *testing.T) {
	t.Parallel()
	for _, mime := range []string{strings.Repeat("x", 1_100_000), "text/" + strings.Repeat("é", 100_000), strings.Repeat("\xff", 1000)} {
		e := Entry{Key: "example,a)/", Timestamp: "20261122120000", URL: "http://a.example/", MIME: mime, Filename: "a.warc.gz"}
		line := string(e.AppendTo(nil))
		back, err := ParseEntry(line)
		if err != nil || len(line) > 1000 || len(back.MIME) > 3*MaxMIME {
			t.Errorf("a type of %d bytes makes a line of %d: %v", len(mime), len(line), err)
		}
		if got := e.AppendCDX(nil); len(got) > 1000 {
			t.Errorf("a type of %d bytes makes a CDX line of %d", len(mime), len(got))
		}
	}
	if got := cutMIME("text/html"); got != "text/html" {
		t.Errorf("an ordinary type became %q", got)
	}
}

func TestLinesSkipsLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 3*MaxLine) + `"filename":"b.warc.gz"}`
	var tails []string
	lines := newLines(strings.NewReader("one\n"+long+"\ntwo\r\n\n"+long+"\nthree"), func(tail []byte) {
		tails = append(tails, string(tail))
	})
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	if lines.Err() != nil || strings.Join(got, ",") != "one,two,,three" {
		t.Errorf("read %q, %v", got, lines.Err())
	}
	if len(tails) != 2 || !strings.HasSuffix(tails[1], `"filename":"b.warc.gz"}`) || len(tails[1]) > 2*MaxLine {
		t.Errorf("%d lines were skipped", len(tails))
	}
}

// A line of the live index that is longer than any reader accepts is left out when it is merged.
func TestLongLineInTheLiveIndexIsLeftOut(t *testing.T) {
	t.Parallel()
	l := newLived(t)
	l.fill("a.example")
	path := filepath.Join(l.Dir, liveName)
	var text strings.Builder
	for line := range strings.Lines(l.text(liveName)) {
		long := `"mime":"` + strings.Repeat("z", MaxLine+MaxLine/10) + `"`
		text.WriteString(strings.Replace(line, `"mime":"text/html"`, long, 1))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	l.Seal()
	l.reopen()
	l.merge()
	l.isWhole()
}
