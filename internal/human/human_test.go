package human_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

const day = 24 * time.Hour

func TestDurationsAreSpelledInOneWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d            time.Duration
		exact, about string
	}{
		{0, "0s", "0s"},
		{time.Microsecond, "0s", "0s"},
		{250 * time.Millisecond, "250ms", "250ms"},
		{4230 * time.Millisecond, "4s230ms", "4.2s"},
		{9970 * time.Millisecond, "9s970ms", "10s"},
		{12300 * time.Millisecond, "12s300ms", "12s"},
		{90 * time.Second, "1m30s", "1m30s"},
		{time.Hour - time.Second, "59m59s", "1h"},
		{90*time.Minute + 10*time.Second, "1h30m10s", "1h30m"},
		{day - time.Minute, "23h59m", "1d"},
		{36 * time.Hour, "1d12h", "1d12h"},
		{54*time.Hour + 20*time.Minute, "2d6h20m", "2d6h"},
		{4 * day, "4d", "4d"},
		{121*time.Hour + 30*time.Minute, "5d1h30m", "5d2h"},
		{28 * day, "28d", "28d"},
		{-90 * time.Second, "-1m30s", "-1m30s"},
		{-4200 * time.Millisecond, "-4s200ms", "-4.2s"},
	} {
		if got := human.Duration(c.d); got != c.exact {
			t.Errorf("Duration(%v) = %q, want %q", c.d, got, c.exact)
		}
		if got := human.About(c.d); got != c.about {
			t.Errorf("About(%v) = %q, want %q", c.d, got, c.about)
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
	if one, two := human.Last(1, "visit"), human.Last(2, "visit"); one != "last visit" || two != "last 2 visits" {
		t.Errorf("Last writes %q and %q, want %q and %q", one, two, "last visit", "last 2 visits")
	}
}

func TestDurationsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"90s": "1m30s", "12h": "12h", "28d": "28d", "1h30m": "1h30m", "1w": "7d", "1y2w3d4h5m6s7ms": "382d4h5m6s7ms", "0s": "0s",
		"0h0m": "0s", "007s": "7s", "106751d": "106751d",
	} {
		d, err := human.ParseDuration(text)
		if got := human.Duration(d); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "0", "5", "s", "1m1h", "1h1h", "1.5h", "1 h", "-1h", "+1h", "1H", "1M", "1ms1s", "106752d", "9223372036854775808s", "1hs", "1日", "\x001s",
	} {
		d, err := human.ParseDuration(text)
		wantRemedy(t, text, human.Duration(d), err)
	}
}

func TestSizesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0B": 0, "1B": 1, "1kB": 1000, "1KB": 1000, "256KiB": 262144, "1MB": 1e6, "1MiB": 1 << 20, "20GB": 20e9, "1GiB": 1 << 30, "2TB": 2e12,
		"8388607TiB": 8388607 << 40,
	} {
		n, err := human.ParseSize(text)
		if err != nil || n != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, n, err, want)
		}
		if back, err := human.ParseSize(human.Size(n)); err != nil || back != want {
			t.Errorf("Size(%d) = %q, which is read as %d, %v", n, human.Size(n), back, err)
		}
	}
	for _, text := range []string{"", "5", "GB", "1G", "1gb", "1.5GB", "-1GB", "1 GB", "1GB2MB", "8388608TiB", "99999999999999999999B", "1GB "} {
		n, err := human.ParseSize(text)
		wantRemedy(t, text, human.Size(n), err)
	}
}

func TestSizesAreWrittenInTheLargestUnitThatDividesThem(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1KiB", 4000: "4kB", 256 << 10: "256KiB", 1 << 30: "1GiB", 50e9: "50GB", 2e9: "2GB",
		8192 << 20: "8GiB", 5e12: "5TB", 1 << 50: "1024TiB", 1024e6: "1024MB", -4000: "-4kB",
	} {
		if got := human.Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

// wantRemedy wants an error with a problem and a remedy.
func wantRemedy(t *testing.T, text, got string, err error) {
	t.Helper()
	var bad *human.SyntaxError
	if !errors.As(err, &bad) || bad.Problem == "" || bad.Remedy == "" {
		t.Errorf("%q is read as %s, %v; want a problem and a remedy", text, got, err)
	}
}

func TestParsePeriodCoversWhatTheTextLeavesOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, from, to string }{
		{"2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"2026-11", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"20261121", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"2026-11-21T09", "2026-11-21T09:00:00Z", "2026-11-21T10:00:00Z"},
		{"2026-11-21 09:00Z", "2026-11-21T09:00:00Z", "2026-11-21T09:01:00Z"},
		{"20261121090000", "2026-11-21T09:00:00Z", "2026-11-21T09:00:01Z"},
		{"20261121090000123", "2026-11-21T09:00:00.123Z", "2026-11-21T09:00:00.124Z"},
	} {
		from, to, err := human.ParsePeriod(c.text)
		if err != nil || from.Format(time.RFC3339Nano) != c.from || to.Format(time.RFC3339Nano) != c.to {
			t.Errorf("ParsePeriod(%q) = %v, %v, %v; want %s to %s", c.text, from, to, err, c.from, c.to)
		}
	}
	for _, bad := range []string{"", "11-2026", "yesterday", "2026-13", "20261321090000123", "202611210900001"} {
		if _, _, err := human.ParsePeriod(bad); err == nil {
			t.Errorf("ParsePeriod(%q) returned no error", bad)
		}
	}
}

func TestHostShowsInternationalizedNamesInUnicode(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"www.news.example":            "www.news.example",
		"[2001:db8::1]:8080":          "[2001:db8::1]:8080",
		"xn--bcher-kva.example":       "bücher.example (xn--bcher-kva.example)",
		"xn--bcher-kva.example:8080":  "bücher.example:8080 (xn--bcher-kva.example:8080)",
		"xn--\u202e.example":          "xn--\u202e.example",
		"xn--a-ecp.example.xn--zzzzz": "xn--a-ecp.example.xn--zzzzz",
	} {
		if got := human.Host(host); got != want {
			t.Errorf("Host(%q) is %q, want %q", host, got, want)
		}
	}
}

func TestURIShowsItsHostInUnicode(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://www.news.example/":           "https://www.news.example/",
		"https://xn--bcher-kva.example:8/a?b": "https://xn--bcher-kva.example:8/a?b (bücher.example:8)",
		"https://[::1]/":                      "https://[::1]/",
		"%zz":                                 "%zz",
	} {
		if got := human.URI(uri); got != want {
			t.Errorf("URI(%q) is %q, want %q", uri, got, want)
		}
	}
}
