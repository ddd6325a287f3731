package crawler

import (
	"slices"
	"testing"
	"time"
)

func TestOnlyJumpsOfTheClockMoveRests(t *testing.T) {
	t.Parallel()
	var k clockWatch
	start, got := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), []time.Duration{}
	for _, row := range []struct{ clock, running time.Duration }{
		{0, time.Hour},
		{time.Minute, time.Hour + time.Minute},
		{65 * time.Second, time.Hour + time.Minute}, // corrected by 5 seconds
		{6 * time.Hour, time.Hour + 2*time.Minute},
		{7 * time.Hour, 2*time.Hour + 2*time.Minute},
		{6 * time.Hour, 2 * time.Hour}, // another worker looked before
		{time.Hour, 2*time.Hour + 3*time.Minute},
	} {
		if by := k.jump(start.Add(row.clock), row.running); by != 0 {
			got = append(got, by)
		}
	}
	want := []time.Duration{6*time.Hour - 65*time.Second - time.Minute, -6*time.Hour - time.Minute}
	if !slices.Equal(got, want) {
		t.Errorf("jumps %v, want %v", got, want)
	}
}

// The clock is 40 days ahead for a day. Visits before, during and after it are compared with the time that passed.
func TestJumpsBetweenTwoVisitsAreKnown(t *testing.T) {
	t.Parallel()
	var k clockWatch
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const hour, ahead = time.Hour, 40 * 24 * time.Hour
	at := func(clock, running time.Duration) time.Time {
		k.jump(start.Add(clock), running)
		return start.Add(clock)
	}
	before := at(0, 0)
	if d := k.Jumped(before, at(hour, hour)); d != 0 {
		t.Errorf("before any jump: %v", d)
	}
	during := at(2*hour+ahead, 2*hour)
	if d := k.Jumped(before, during); d != ahead {
		t.Errorf("from before to during: %v, want %v", d, ahead)
	}
	if d := k.Jumped(during, at(3*hour+ahead, 3*hour)); d != 0 {
		t.Errorf("during: %v, want none", d)
	}
	after := at(4*hour, 4*hour)
	if d := k.Jumped(during, after); d != -ahead {
		t.Errorf("from during to after: %v, want %v", d, -ahead)
	}
	if d := k.Jumped(before, after); d != 0 {
		t.Errorf("from before to after: %v, want none", d)
	}
	if d := k.Jumped(time.Time{}, after); d != 0 {
		t.Errorf("never visited: %v", d)
	}
	for i := range time.Duration(3 * maxSpans) {
		at(4*hour+i%2*ahead+i*time.Minute, 4*hour+i*time.Minute)
	}
	if n := len(k.spans); n > maxSpans {
		t.Errorf("%d spans are remembered, more than %d", n, maxSpans)
	}
}
