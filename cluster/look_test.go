package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRowsOfOtherNodesDelayNobody lets a hundred visits ask for rows of other nodes while the database hangs. Two
// wait for it, the others use what was read before; then nobody asks for some seconds.
func TestRowsOfOtherNodesDelayNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs, reads, failures := false, 0, 0
		var mu sync.Mutex
		f := foreignRows{now: time.Now, fail: func(error) { failures++ }}
		f.read = func(ctx context.Context, _ int16, key []byte) ([]byte, error) {
			mu.Lock()
			reads++
			mu.Unlock()
			if hangs {
				<-ctx.Done()
				return nil, errors.New("the database does not answer")
			}
			return []byte("value of " + string(key)), nil
		}
		want := func(n int, why string) {
			t.Helper()
			if reads != n {
				t.Errorf("%d reads, want %d: %s", reads, n, why)
			}
			reads = 0
		}
		for range 100 {
			if got := f.get(2, []byte("k")); string(got) != "value of k" {
				t.Errorf("got %q", got)
			}
		}
		want(1, "the row is kept")
		time.Sleep(rowKept)
		hangs = true
		began := time.Now()
		var visits sync.WaitGroup
		for range 100 {
			visits.Go(func() {
				if got := f.get(2, []byte("k")); string(got) != "value of k" {
					t.Errorf("the database does not answer, and the row is %q", got)
				}
			})
		}
		visits.Wait()
		want(maxLooks, "the others do not wait")
		if took := time.Since(began); took > foreignLookTime {
			t.Errorf("visits waited for %s", took)
		}
		f.get(3, []byte("other"))
		want(0, "the database did not answer a moment ago")
		time.Sleep(failureKept)
		hangs = false
		if got := f.get(3, []byte("other")); string(got) != "value of other" {
			t.Errorf("got %q after the database is back", got)
		}
		if failures != 1 {
			t.Errorf("%d failures were logged, want the first", failures)
		}
	})
}

// TestRowsOfOtherNodesHaveABound reads many large rows.
func TestRowsOfOtherNodesHaveABound(t *testing.T) {
	t.Parallel()
	size := 0
	f := foreignRows{now: time.Now}
	f.read = func(context.Context, int16, []byte) ([]byte, error) { return make([]byte, size), nil }
	for _, size = range []int{1, 1 << 20} {
		for i := range 2 * maxRowsKept {
			f.get(2, []byte(fmt.Sprint(i)))
			if len(f.rows) > maxRowsKept || f.bytes > maxBytesKept {
				t.Fatalf("%d rows of %d bytes are kept", len(f.rows), f.bytes)
			}
		}
	}
}
