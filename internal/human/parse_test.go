package human_test

import (
	"errors"
	"testing"

	"github.com/arcrawl/arcrawl/internal/human"
)

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
