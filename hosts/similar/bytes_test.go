package similar_test

import (
	"testing"
	"unsafe"

	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/hosts/similar"
)

// longestHost is the length of the longest host name with a port.
const longestHost = 259

func TestBytesCoverARow(t *testing.T) {
	t.Parallel()
	s, err := similar.Open(openBadger(t))
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
