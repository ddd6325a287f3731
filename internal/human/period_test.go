package human_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

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
