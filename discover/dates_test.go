package discover_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/discover"
)

func TestDateReadsTheFormatsOfPublishers(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		in   string
		want time.Time
		day  bool
	}{
		{"2026-11-21T12:00:00Z", noon, false},
		{"2026-11-21T13:00:00.250+01:00", noon.Add(250 * time.Millisecond), false},
		{"2026-11-21T13:00:00.250+0100", noon.Add(250 * time.Millisecond), false},
		{"2026-11-21T12:00Z", noon, false},
		{"2026-11-21T12:00:00", noon, false},
		{"2026-11-21 12:00:00", noon, false},
		{"2026-11-21 14:00:00 +02:00", noon, false},
		{"Sat, 21 Nov 2026 12:00:00 +0000", noon, false},
		{"2026-11-21", noon.Truncate(24 * time.Hour), true},
		{"2026-13-21", time.Time{}, false},
		{"yesterday", time.Time{}, false},
		{"", time.Time{}, false},
	} {
		if got, day := discover.ParseDate(c.in); !got.Equal(c.want) || day != c.day {
			t.Errorf("Date(%q) = %s, %t; want %s, %t", c.in, got, day, c.want, c.day)
		}
	}
}

func TestValidUTF8AllowsAnIncompleteEnd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"": true, "plain": true, "é": true, "caf\xc3": true, "\xf0\x9f\x98": true, "caf\xe9 au lait": false, "\xff": false,
	} {
		if got := discover.ValidUTF8([]byte(in)); got != want {
			t.Errorf("ValidUTF8(%q) = %t, want %t", in, got, want)
		}
	}
}

// FuzzDate reads arbitrary dates. A result must be a date that can be stored.
func FuzzDate(f *testing.F) {
	for _, s := range []string{
		"2026-11-21", "2026-11-21T10:00:00+25:99", "Sat, 21 Nov 2026 10:00:00 GMT", "21. November 2026",
		"99999-01-01", "0000-00-00", "2026-W47-6", "١٢", "+1-1-1T1:1:1.999999999999Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, _ := discover.ParseDate(s)
		if at.IsZero() {
			return
		}
		if y := at.UTC().Year(); y < 0 || y > 9999 {
			t.Errorf("%q is read as the year %d", s, y)
		}
		discover.ValidUTF8([]byte(s))
	})
}
