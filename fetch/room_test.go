package fetch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/fetch"
)

func TestFetchReservesSpaceBeforeItReceives(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	withLengthOf := func(n int) string { return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", n) }
	const untilClose = "HTTP/1.1 200 OK\r\n\r\n"
	full := errors.New("the disk is full")
	for _, c := range []struct {
		name     string
		head     string
		sends    int
		space    int64
		refused  bool
		reserved int64 // at most
	}{
		{"a small page", withLengthOf(900), 900, 1000, false, 900},
		{"a large body with a length", withLengthOf(3 << 20), 3 << 20, 4 << 20, false, 3 << 20},
		{"a length for which there is no space", withLengthOf(1 << 30), 0, 4 << 20, true, 0},
		{"a length beyond the size limit counts up to the limit", withLengthOf(1 << 40), 8 << 20, 9 << 20, false, 8 << 20},
		{"a page without a length", untilClose, 100 * kib, 1 << 20, false, 256 * kib},
		{"a large body without a length", untilClose, 5 << 20, 8 << 20, false, 8 << 20},
		{"a body that grows beyond the space", untilClose, 5 << 20, 4 << 20, true, 4 << 20},
		{"no space at all", untilClose, 10, 0, true, 0},
		{"an answer without a body", "HTTP/1.1 204 No Content\r\n\r\n", 0, -1, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, fetch.Options{})
			address := serve(t, answering(c.head+strings.Repeat("x", c.sends), true))
			reserved := int64(0)
			got := get(t, client, fetch.Request{
				URI: parse(t, "http://"+address+"/"), Limits: fetch.Limits{MaxBody: 8 << 20},
				Space: reserving(func(n int64) error {
					if reserved+n > c.space {
						return full
					}
					reserved += n
					return nil
				}),
			})
			if got.Refused != c.refused || errors.Is(got.Misfortune, full) != c.refused {
				t.Fatalf("refused %v, misfortune %v; want refused %v", got.Refused, got.Misfortune, c.refused)
			}
			if reserved > c.reserved || !c.refused && reserved < got.PayloadSize {
				t.Errorf("%d bytes reserved for %d bytes, want at most %d", reserved, got.PayloadSize, c.reserved)
			}
			if !c.refused {
				if want := min(c.sends, 8<<20); got.PayloadSize != int64(want) {
					t.Errorf("%d bytes received, want %d", got.PayloadSize, want)
				}
				return
			}
			if got.Complete || got.Truncated != "" || !got.PayloadDigest.IsZero() || got.Status != 200 {
				t.Errorf("got %+v, want a head alone", got)
			}
			if b := block(t, got); b != c.head || string(got.Head) != c.head || got.BlockDigest != sum(c.head) {
				t.Errorf("block of %d bytes, want the head alone: %.200q", len(b), b)
			}
			if fetch.Idle(client) != 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// reserving is a [fetch.Space] made of a function.
type reserving func(n int64) error

func (r reserving) Reserve(n int64) error { return r(n) }
