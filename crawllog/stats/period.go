package stats

import (
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// ParseTime parses one end of a [Period]: a date, as the period from its start to its end, or a duration, as the moment
// that long before now. An empty text is the zero time.
func ParseTime(text string, now time.Time) (from, to time.Time, err error) {
	if text == "" {
		return from, to, nil
	}
	if ago, err := human.ParseDuration(text); err == nil {
		at := now.Add(-ago)
		return at, at, nil
	}
	return human.ParsePeriod(text)
}
