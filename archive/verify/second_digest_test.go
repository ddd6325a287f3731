package verify

import (
	"crypto/sha256"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// The payload of a record that somebody replaced may have the SHA-1 of the old one. Its SHA-256 then differs.
func TestThePayloadIsComparedWithTheSHA256OfItsVisit(t *testing.T) {
	t.Parallel()
	const head, body = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nbody\r\n0\r\n\r\n"
	right := digest.SHA256(sha256.Sum256([]byte("body"))).String()
	wrong := digest.SHA256(sha256.Sum256([]byte("bodx"))).String()
	for _, c := range []struct{ name, software, sum, want string }{
		{"the same", "arcrawl/1", right, ""},
		{"another", "arcrawl/1", wrong, "the metadata record of the visit says " + wrong},
		{"none", "arcrawl/1", "", ""},
		{"a field of another program", "other/1", wrong, ""},
	} {
		dir, now := t.TempDir(), archivetest.Start
		w, _, err := warcout.Open(warcout.Options{
			Dir: dir, Prefix: "test", Info: []warcout.Field{{Name: "software", Value: c.software}},
		}, now)
		archivetest.Must(t, err)
		u, err := uri.Parse("http://a.example/")
		archivetest.Must(t, err)
		v := warcout.Visit{
			URI: u, Date: now, IP: netip.MustParseAddr("192.0.2.7"), Request: []byte("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
			Metadata: []warcout.Field{{Name: "via", Value: "x"}},
			Response: &warcout.Response{
				Block: strings.NewReader(head + body), Size: int64(len(head + body)), BlockDigest: digest.Of([]byte(head + body)),
				PayloadDigest: digest.Of([]byte("body")), PayloadSize: 4,
			},
		}
		if c.sum != "" {
			v.Metadata = append(v.Metadata, warcout.Field{Name: history.PayloadSHA256, Value: c.sum})
		}
		_, err = w.Write(now, v)
		archivetest.Must(t, err)
		archivetest.Must(t, w.Close(now.Add(time.Hour)))
		var found []string
		_, err = Files(t.Context(), []string{dir}, Options{}, func(f warc.Finding) error {
			found = append(found, f.Error())
			return nil
		})
		if err != nil || len(found) > 0 && c.want == "" || c.want != "" && !strings.Contains(strings.Join(found, "\n"), c.want) {
			t.Errorf("%s: %q, %v", c.name, found, err)
		}
	}
}
