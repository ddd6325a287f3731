package evict_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/crawler/evict"
	"github.com/arcrawl/arcrawl/frontier"
)

// answers are the results of MakeRoom, one for each call.
type answers struct {
	errs  []error
	calls int
}

func (a *answers) MakeRoom(<-chan struct{}) (int, error) {
	a.calls++
	return a.calls, a.errs[a.calls-1]
}

func TestOnlyDamageEndsTheEviction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store := &answers{errs: []error{nil, errors.New("the disk is full"), frontier.ErrCorrupt}}
		began := time.Now()
		err := evict.Run(make(chan struct{}), store, zerolog.New(&log))
		if !errors.Is(err, frontier.ErrCorrupt) || store.calls != 3 || time.Since(began) != 3*evict.Every {
			t.Fatalf("Run = %v after %d calls and %s", err, store.calls, time.Since(began))
		}
		if !strings.Contains(log.String(), "the disk is full") || !strings.Contains(log.String(), `"hosts":1`) {
			t.Errorf("the log has\n%s", log.String())
		}
	})
}

func TestEvictionStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		time.AfterFunc(evict.Every/2, func() { close(stop) })
		if err := evict.Run(stop, &answers{}, zerolog.Nop()); err != nil {
			t.Fatal(err)
		}
	})
}
