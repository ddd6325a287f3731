package index

import (
	"strings"
	"testing"
)

func TestEntryAsCDX11(t *testing.T) {
	t.Parallel()
	whole := Entry{
		Key: "example,a)/x", Timestamp: "20261121090000", URL: "http://a.example/x", MIME: "text/html", Status: "200", Digest: "sha1:ABC",
		Length: 512, Offset: 77, Filename: "a.warc.gz",
	}
	revisit := whole
	revisit.MIME, revisit.Status, revisit.Length, revisit.Offset = RevisitMIME, "", 0, 0
	milliseconds := whole
	milliseconds.Timestamp += "123"
	spaced := whole
	spaced.URL, spaced.Filename, spaced.Digest = "http://a.example/x y\n", "my file.warc.gz", "ABC"
	for name, row := range map[string]struct {
		entry Entry
		want  string
	}{
		"a response":              {whole, "example,a)/x 20261121090000 http://a.example/x text/html 200 ABC - - 512 77 a.warc.gz\n"},
		"milliseconds":            {milliseconds, "example,a)/x 20261121090000 http://a.example/x text/html 200 ABC - - 512 77 a.warc.gz\n"},
		"a revisit without head":  {revisit, "example,a)/x 20261121090000 http://a.example/x warc/revisit - ABC - - - 0 a.warc.gz\n"},
		"fields with white space": {spaced, "example,a)/x 20261121090000 http://a.example/x%20y%0A text/html 200 ABC - - 512 77 my%20file.warc.gz\n"},
		"nothing known":           {Entry{}, "- - - - - - - - - 0 -\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(row.entry.AppendCDX(nil))
			if got != row.want {
				t.Errorf("got  %qwant %q", got, row.want)
			}
			if n := len(strings.Split(got, " ")); n != 11 {
				t.Errorf("%d fields", n)
			}
		})
	}
}
