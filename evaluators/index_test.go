package evaluators

import (
	"slices"
	"testing"
	"time"
)

// proven returns the record of an index that is followed.
func proven() (x Index) {
	for range heardProof {
		x = x.AfterSaid(true, 0.4).AfterHeard(true)
	}
	return x
}

func TestAnIndexIsFollowedWhileItIsTrue(t *testing.T) {
	t.Parallel()
	x := proven()
	if !x.Followed {
		t.Fatalf("an index that was right %d times is not followed: %+v", heardProof, x)
	}
	if x = x.AfterSaid(false, 0.4).AfterHeard(false); !x.Followed {
		t.Error("one error of each kind ended it")
	}
	if y := x.AfterHeard(false).AfterHeard(false).AfterHeard(false); y.Followed {
		t.Errorf("it left out four changes and is still followed: %+v", y)
	}
	if y := x.AfterSaid(false, 0.4).AfterSaid(false, 0.4); y.Followed {
		t.Errorf("three pages had not changed as it said, and it is still followed: %+v", y)
	}
	if y := x.Unfollowed(); y.Followed || y.AfterSaid(true, 0.1).AfterSaid(true, 0.1).AfterHeard(true).Followed {
		t.Error("an index that came back is followed without new proof")
	}
}

// An index that names the pages that change all the time is right, and proves nothing.
func TestWhatWasExpectedProvesNothing(t *testing.T) {
	t.Parallel()
	var x Index
	for i := range 100 {
		x = x.AfterSaid(i%5 > 0, 0.8).AfterHeard(true)
	}
	if x.Followed {
		t.Errorf("it is followed: %+v", x)
	}
}

func TestAnIndexIsReadAsItsNewsAsksFor(t *testing.T) {
	t.Parallel()
	read := func(x Index, age time.Duration, pages int) time.Duration {
		now := time.Unix(1.7e9, 0)
		for range 5 {
			now = now.Add(time.Hour)
			x = x.AfterReading(now, pages, slices.Values(slices.Repeat([]time.Duration{age}, pages)))
		}
		return x.Planned(0.46).Every
	}
	busy, quiet := read(proven(), time.Hour, 20), read(proven(), 5*24*time.Hour, 20)
	if busy > 4*time.Hour || quiet < 4*24*time.Hour {
		t.Errorf("read every %s if the pages changed an hour ago, every %s if five days ago", busy, quiet)
	}
	x, day := Index{Followed: true, Every: busy}, 24*time.Hour
	if wait, follows := x.PageWait(day); !follows || wait != AuditTimes*day {
		t.Errorf("a page with a wait of a day waits %s: %t", wait, follows)
	}
	if wait, follows := x.PageWait(busy / 2); follows || wait != busy/2 {
		t.Errorf("a page that changes faster than its index is read waits %s: %t", wait, follows)
	}
	if unproven := read(Index{}, time.Hour, 20); unproven < 5*24*time.Hour {
		t.Errorf("an index that proved nothing at five readings is read every %s", unproven)
	}
}
