package warc

import (
	"bytes"
	"strings"
	"testing"
)

// A head as long as the largest fetch.max_head is read, and a longer one is refused.
func TestTheLongestHeadsAreRead(t *testing.T) {
	t.Parallel()
	const line = "X-Long: " + "abcdefghijklmnopqrstuvwxyz\r\n"
	for _, c := range []struct {
		size int
		ok   bool
	}{{600 << 10, true}, {maxHead - len(line), true}, {maxHead + 2*len(line), false}} {
		head := "HTTP/1.1 200 OK\r\n" + strings.Repeat(line, c.size/len(line)-1) + "\r\n"
		r := NewHeadReader()
		r.Reset(bytes.NewReader([]byte(head + "body")))
		h, err := ReadHead(r)
		if (err == nil) != c.ok || c.ok && (h.Status != 200 || len(h.Raw) != len(head)) {
			t.Errorf("a head of %d bytes: status %d, %d bytes, %v", len(head), h.Status, len(h.Raw), err)
		}
	}
}
