package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRowsOfOtherShardsDelayNobody lets a hundred visits ask for rows of other shards while the database hangs. Two
// wait for it, the others use what was read before; then nobody asks for some seconds.
func TestRowsOfOtherShardsDelayNobody(t *testing.T) {
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

// TestRowsOfOtherShardsHaveABound reads many large rows.
func TestRowsOfOtherShardsHaveABound(t *testing.T) {
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

// TestNewsDoesNotReplaceOtherNews compares the keys of letters about one URI in the database. A letter with the key of
// another one replaces it.
func TestNewsDoesNotReplaceOtherNews(t *testing.T) {
	t.Parallel()
	keys := map[string]string{}
	for _, l := range []letter{
		{value: []byte("a link")}, {value: []byte("changed at noon"), sooner: true}, {value: []byte("changed at one"), sooner: true},
	} {
		l.key = []byte("key of the URI")
		k := string(letterKey(l))
		if other := keys[k]; other != "" || !strings.HasPrefix(k, "key of the URI") || string(letterKey(l)) != k {
			t.Errorf("the letters %q and %q have the key %q", other, l.value, k)
		}
		keys[k] = string(l.value)
	}
}
