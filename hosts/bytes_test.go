package hosts_test

import (
	"testing"
	"unsafe"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestBytesCoverARow(t *testing.T) {
	t.Parallel()
	_, s := reputationOpen(t, t.TempDir())
	if _, err := s.Get("a.example"); err != nil {
		t.Fatal(err)
	}
	const longestHost = 259 // with a port
	least := int64(max(unsafe.Sizeof(evaluators.Reputation{}), unsafe.Sizeof(evaluators.Dates{}))) + longestHost
	if got := s.Bytes(); got < least {
		t.Errorf("a row counts %d bytes, and takes up to %d", got, least)
	}
}
