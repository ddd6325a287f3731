package human_test

import (
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

const day = 24 * time.Hour

func TestDurationsAreSpelledInOneWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d                         time.Duration
		exact, about, andInterval string
	}{
		{0, "0s", "0s", "0s"},
		{time.Microsecond, "0s", "0s", "0s"},
		{250 * time.Millisecond, "250ms", "250ms", "250ms"},
		{4230 * time.Millisecond, "4s230ms", "4.2s", "4.23s"},
		{9970 * time.Millisecond, "9s970ms", "10s", "9.97s"},
		{12300 * time.Millisecond, "12s300ms", "12s", "12.3s"},
		{90 * time.Second, "1m30s", "1m30s", "1m30s"},
		{time.Hour - time.Second, "59m59s", "1h", "59m59s"},
		{90*time.Minute + 10*time.Second, "1h30m10s", "1h30m", "1h30m10s"},
		{day - time.Minute, "23h59m", "1d", "23h59m"},
		{36 * time.Hour, "1d12h", "1d12h", "36h"},
		{54*time.Hour + 20*time.Minute, "2d6h20m", "2d6h", "54h20m"},
		{4 * day, "4d", "4d", "4d"},
		{121*time.Hour + 30*time.Minute, "5d1h30m", "5d2h", "5d1h30m"},
		{28 * day, "28d", "28d", "28d"},
		{-90 * time.Second, "-1m30s", "-1m30s", "-1m30s"},
		{-4200 * time.Millisecond, "-4s200ms", "-4.2s", "-4.2s"},
	} {
		if got := human.Duration(c.d); got != c.exact {
			t.Errorf("Duration(%v) = %q, want %q", c.d, got, c.exact)
		}
		if got := human.About(c.d); got != c.about {
			t.Errorf("About(%v) = %q, want %q", c.d, got, c.about)
		}
		if got := human.Interval(c.d); got != c.andInterval {
			t.Errorf("Interval(%v) = %q, want %q", c.d, got, c.andInterval)
		}
	}
	for d, want := range map[time.Duration]string{math.MaxInt64: "106751d23h47m16s854ms", math.MinInt64: "-106751d23h47m16s854ms"} {
		if got := human.Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestSizesAreDecimal(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 99_940: "99.9 kB", 99_960: "100 kB", 150e6: "150 MB",
		999_499: "999 kB", 999_500: "1.0 MB", 1.5e9: "1.5 GB", 1 << 30: "1.1 GB", 20e12: "20.0 TB",
		math.MaxInt64: "9.2 EB", -1500: "-1.5 kB",
	} {
		if got := human.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCountsAgreeWithTheirNouns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n          int
		noun, want string
	}{
		{1, "fault", "1 fault"},
		{2, "fault", "2 faults"},
		{0, "seed", "0 seeds"},
		{1, "entry", "1 entry"},
		{3, "entry", "3 entries"},
		{2, "day", "2 days"},
		{2, "known URI", "2 known URIs"},
		{2, "address", "2 addresses"},
		{2, "batch", "2 batches"},
	} {
		if got := human.Count(c.n, c.noun); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}
