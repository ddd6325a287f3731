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
	x.Grain = day
	if _, follows := x.PageWait(day / 2); follows {
		t.Error("a page with a wait of half a day follows dates without a time of day")
	}
	if unproven := read(Index{}, time.Hour, 20); unproven < 5*24*time.Hour {
		t.Errorf("an index that proved nothing at five readings is read every %s", unproven)
	}
}

func TestAnIndexThatFallsSilentIsNotFollowed(t *testing.T) {
	t.Parallel()
	x, began := proven(), time.Unix(1.7e9, 0)
	read := func(at, last time.Duration) {
		age := began.Add(at).Sub(began.Add(last))
		x = x.AfterReading(began.Add(at), 20, slices.Values(slices.Repeat([]time.Duration{age}, 20)))
	}
	for i := range 24 {
		read(time.Duration(i)*time.Hour, time.Duration(i)*time.Hour)
	}
	if read(33*time.Hour, 24*time.Hour); !x.Followed {
		t.Error("a quiet night ended it")
	}
	if read(37*time.Hour, 24*time.Hour); x.Followed {
		t.Error("twenty pages change each hour, it said nothing for 13 hours, and it is still followed")
	}
	if read(38*time.Hour, 38*time.Hour); !x.Followed {
		t.Error("it says something again, and is not followed")
	}
}

func TestAFoundChangeIsAskedForUntilTheIndexSaysSo(t *testing.T) {
	t.Parallel()
	day := int64(24 * time.Hour / time.Second)
	h := HostIndex{}.WithFound(FoundChange{Page: 1, Before: 10 * day, At: 11 * day})
	h = h.WithFound(FoundChange{Page: 2, Before: 10 * day, At: 11 * day}).WithFound(FoundChange{Page: 1, At: 12 * day})
	told := map[uint64]bool{}
	ask := func(day, dateOf1 int64) {
		h = h.AfterAsking(time.Unix(day*24*3600, 0), func(page uint64) time.Time {
			return time.Unix(map[uint64]int64{1: dateOf1, 2: 1}[page], 0)
		}, func(page uint64, leftOut bool) { told[page] = leftOut })
	}
	if ask(11, 1); len(told) != 0 || len(h.Found) != 2 {
		t.Errorf("at the first reading: %v, %+v", told, h.Found)
	}
	if ask(13, 11*day); told[1] || !told[2] || h.Heard.ChangeRight != 1 || h.Heard.ChangeWrong != 1 || h.Late == 0 {
		t.Errorf("two days later: %v, %+v", told, h)
	}
	if ask(20, 11*day); len(h.Found) != 0 || h.Heard.Known != 2 {
		t.Errorf("nine days later: %+v", h)
	}
}

// A page changes each few hours, and its index names only some of the changes. A date that is much later than the visit
// that found a change is of another change.
func TestALaterChangeDoesNotProveThatAnEarlierOneWasSaid(t *testing.T) {
	t.Parallel()
	hour := int64(time.Hour / time.Second)
	for _, c := range []struct {
		dates       []int64 // at readings at 21, 22 and 32 hours
		right, left int64
	}{
		{[]int64{19}, 1, 0},         // before the visit at 20 hours, and after the one at 18
		{[]int64{17, 22}, 1, 0},     // soon after it: the index is late
		{[]int64{17, 17, 31}, 0, 1}, // another one
		{[]int64{17, 17, 17}, 0, 0}, // it may still say so
		{[]int64{17, 17, 19}, 1, 0}, // it says so now
		{[]int64{}, 0, 0},           // not yet
	} {
		h := HostIndex{}.WithFound(FoundChange{Page: 1, Before: 18 * hour, At: 20 * hour})
		for i, at := range c.dates {
			now := time.Unix([]int64{21, 22, 32}[i]*hour, 0)
			h = h.AfterAsking(now, func(uint64) time.Time { return time.Unix(at*hour, 0) }, func(uint64, bool) {})
		}
		if h.Heard.ChangeRight != c.right || h.Heard.ChangeWrong != c.left {
			t.Errorf("dates at %d hours: heard %+v, want %d said and %d left out", c.dates, h.Heard, c.right, c.left)
		}
	}
	h := HostIndex{}.WithFound(FoundChange{Page: 1, Before: 18 * hour, At: 20 * hour})
	later := func(uint64) time.Time { return time.Unix(89*hour, 0) }
	h = h.AfterAsking(time.Unix(90*hour, 0), later, func(uint64, bool) {})
	if len(h.Found) != 0 || h.Heard.Known != 0 {
		t.Errorf("what the index said before its first reading after the visit is not known: %+v", h)
	}
}
