package messages

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// TestTheDayOfADigest asks for the last digest of a weekly and of a daily recipient.
func TestTheDayOfADigest(t *testing.T) {
	t.Parallel()
	sunday := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	weekly := config.Recipient{Weekly: true, Weekday: time.Monday}
	for day, want := range map[int]int{0: -6, 1: 1, 2: 1, 7: 1, 8: 8} {
		if got := digestDay(weekly, sunday.AddDate(0, 0, day)); !got.Equal(sunday.AddDate(0, 0, want)) {
			t.Errorf("%d days after a Sunday, the last Monday is %s", day, got)
		}
	}
	if got := digestDay(config.Recipient{}, sunday); !got.Equal(sunday) {
		t.Errorf("the last daily digest on %s is on %s", sunday, got)
	}
}
