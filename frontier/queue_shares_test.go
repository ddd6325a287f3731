package frontier

import (
	"fmt"
	"testing"
	"time"
)

// One contender competes for each visit with a hundred others of far higher value. The shares make sure that it is
// chosen regularly. Without its share it would never be chosen.
func TestSharesKeepEachKindFromStarving(t *testing.T) {
	t.Parallel()
	const now = 1_000_000_000
	hour := time.Hour.Milliseconds()
	at := func(i int) place { return newPlace(now-1, newFingerprint(fmt.Sprint(i))) }
	busy := func(i int) contender { return contender{at: at(i), visited: now - 10*hour, wait: hour, rate: 100} }
	for _, kind := range []struct {
		name string
		c    contender
		want int // of 800 choices
	}{
		{"a seed or feed that hardly changes", contender{at: at(-1), visited: now - hour, wait: 1000 * hour, rate: 0.001, source: true}, 100},
		{"a seed that was never visited", contender{at: at(-1), source: true}, 100},
		{"a first visit", contender{at: at(-1)}, 200},
	} {
		chosen := func(order Order, share bool) (n int) {
			p := &pool{}
			for i := range 100 {
				p.due = append(p.due, busy(i))
			}
			p.due = append(p.due, kind.c)
			for turn := range 800 {
				if p.turn = 1; share {
					p.turn = int64(turn)
				}
				if p.due[p.best(order, now)] == kind.c {
					n++
				}
			}
			return n
		}
		for _, order := range []Order{ByValue, ByOverdue} {
			if n := chosen(order, true); n < kind.want {
				t.Errorf("%s, by %s: chosen %d times of 800, want %d", kind.name, order, n, kind.want)
			}
			if n := chosen(order, false); n != 0 {
				t.Errorf("%s, by %s: chosen %d times without a share, so that this test proves nothing", kind.name, order, n)
			}
		}
	}
}
