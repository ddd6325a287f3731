package heritrix

import (
	"testing"
	"time"
)

func TestDurationText(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0ms", 1500 * time.Millisecond: "1500ms", 90 * time.Second: "90s", time.Hour: "1h", 48 * time.Hour: "2d",
	} {
		if got := durationText(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
}
