package crawler

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

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
	var log bytes.Buffer
	store := &answers{errs: []error{nil, errors.New("the disk is full"), frontier.ErrCorrupt}}
	tick := make(chan time.Time, 4)
	for range 4 {
		tick <- time.Time{}
	}
	err := evictHosts(make(chan struct{}), tick, store, zerolog.New(&log))
	if !errors.Is(err, frontier.ErrCorrupt) || store.calls != 3 {
		t.Fatalf("Run = %v after %d calls", err, store.calls)
	}
	if !strings.Contains(log.String(), "the disk is full") || !strings.Contains(log.String(), `"hosts":1`) {
		t.Errorf("the log has\n%s", log.String())
	}
}

func TestEvictionStops(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	close(stop)
	if err := evictHosts(stop, nil, &answers{}, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
}
