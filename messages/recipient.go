package messages

import (
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// isOn reports whether mail is sent.
func isOn(m config.Mail) bool { return m.Server != "" && m.From != "" && len(m.To) > 0 }

// digestAt returns the time of day of the digest; ok is false if there is none.
func digestAt(m config.Mail) (sinceMidnight time.Duration, ok bool) {
	t, err := time.Parse("15:04", m.Digest)
	if err != nil {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}

// receiverOf returns the name of a recipient in the outbox.
func receiverOf(to config.Recipient) string {
	if to.Label == "" {
		return to.Address
	}
	return to.Label + "=" + to.Address
}

// concerns reports whether a recipient receives an alarm about a host. names are its labels, collections and owners.
// Who has no label receives everything. Who has one does not receive alarms about the crawl as a whole.
func concerns(to config.Recipient, host string, names []string) bool {
	return to.Label == "" || host != "" && slices.Contains(names, to.Label)
}

// period returns the time from one digest of a recipient to the next.
func period(to config.Recipient) time.Duration {
	if to.Weekly {
		return 7 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// digestDay returns the last day, up to a given one, on which a recipient is sent a digest. Days begin at midnight UTC.
func digestDay(to config.Recipient, day time.Time) time.Time {
	for to.Weekly && day.Weekday() != to.Weekday {
		day = day.AddDate(0, 0, -1)
	}
	return day
}
