package dedup_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/arcrawl/arcrawl/dedup"
)

func TestOnlyTheSameBytesAreTheSame(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 20_000) // more than is read at a time
	for _, c := range []struct {
		name, stored, received string
		same                   bool
	}{
		{"nothing", "", "", true},
		{"a short payload", "abc", "abc", true},
		{"a long payload", long, long, true},
		{"another byte", "abc", "abd", false},
		{"another last byte of a long one", long, long[:len(long)-1] + "x", false},
		{"the stored one is longer", "abcd", "abc", false},
		{"the received one is longer", "abc", "abcd", false},
		{"a long stored one is longer", long + "x", long, false},
		{"nothing was received", "abc", "", false},
		{"the stored one is longer by whole blocks", long, long[:64<<10], false},
	} {
		err := dedup.SameBytes(strings.NewReader(c.stored), strings.NewReader(c.received))
		if (err == nil) != c.same || err != nil && !errors.Is(err, dedup.ErrDiffers) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	broken := errors.New("the disk fails")
	if err := dedup.SameBytes(iotest.ErrReader(broken), strings.NewReader("abc")); !errors.Is(err, broken) || errors.Is(err, dedup.ErrDiffers) {
		t.Errorf("a stored payload that cannot be read: %v", err)
	}
}
