package panics_test

import (
	"errors"
	"testing"

	"github.com/arcrawl/arcrawl/internal/panics"
)

func TestGuardReturnsAPanicAsAnError(t *testing.T) {
	t.Parallel()
	_, err := panics.Catch(func() (int, error) {
		var nothing []int
		return nothing[3], nil
	})
	if p := (*panics.Error)(nil); !errors.As(err, &p) || len(p.Stack) == 0 {
		t.Errorf("a panic came back as %v", err)
	}
	if n, err := panics.Catch(func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("a step without a panic returned %d and %v", n, err)
	}
}
