package text_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/discover/text"
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
		if got, day := text.Date(c.in); !got.Equal(c.want) || day != c.day {
			t.Errorf("Date(%q) = %s, %t; want %s, %t", c.in, got, day, c.want, c.day)
		}
	}
}

func TestValidUTF8AllowsAnIncompleteEnd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"": true, "plain": true, "é": true, "caf\xc3": true, "\xf0\x9f\x98": true, "caf\xe9 au lait": false, "\xff": false,
	} {
		if got := text.ValidUTF8([]byte(in)); got != want {
			t.Errorf("ValidUTF8(%q) = %t, want %t", in, got, want)
		}
	}
}
