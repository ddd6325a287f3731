package crawllog_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/crawllog"
)

func TestDurationsHaveTheFormOfHeritrix(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0ms":                   0,
		"1ms":                   time.Millisecond,
		"1000ms":                time.Second,
		"1s1ms":                 time.Second + time.Millisecond,
		"60s0ms":                time.Minute,
		"60m0ms":                time.Hour,
		"1h30m0ms":              90 * time.Minute,
		"24h0ms":                24 * time.Hour,
		"1d12h0ms":              36 * time.Hour,
		"1d60m0ms":              25 * time.Hour,
		"2d0ms":                 48 * time.Hour,
		"28d0ms":                28 * 24 * time.Hour,
		"4m12s307ms":            4*time.Minute + 12*time.Second + 307*time.Millisecond,
		"106751d23h47m16s854ms": math.MaxInt64,
	} {
		if got := crawllog.Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
	for _, d := range []time.Duration{-1, -time.Hour, math.MinInt64, 999 * time.Microsecond} {
		if got := crawllog.Duration(d); got != "0ms" {
			t.Errorf("Duration(%d) = %q, want 0ms", d, got)
		}
	}
}

func TestDurationsOfAScheduleAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	hours := rapid.Map(rapid.Int64Range(0, 100), func(h int64) int64 { return h * int64(time.Hour) })
	anyLength := rapid.OneOf(rapid.Int64Min(0), rapid.Int64Range(0, int64(72*time.Hour)), hours)
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(anyLength.Draw(t, "d"))
		e := unchanged()
		e.Schedule.Wait = d
		line := string(e.AppendTo(nil, false))
		back, err := crawllog.Parse(line)
		if err != nil || back.Schedule == nil || back.Schedule.Wait != d.Truncate(time.Millisecond) {
			t.Fatalf("%s is read from %q as %+v, %v", d, line, back.Schedule, err)
		}
	})
}
