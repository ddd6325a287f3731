package hosts_test

import (
	"testing"
	"unsafe"

	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/hosts"
)

// longestHost is the length of the longest host name with a port.
const longestHost = 259

func TestSimilarBytesCoverARow(t *testing.T) {
	t.Parallel()
	s, err := hosts.OpenSimilar(openBadger(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("a.example", 5); err != nil {
		t.Fatal(err)
	}
	if got, least := s.Bytes(), int64(unsafe.Sizeof(rate.Relatives{}))+longestHost; got < least {
		t.Errorf("a row counts %d bytes, and takes up to %d", got, least)
	}
}
