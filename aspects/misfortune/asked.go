package misfortune

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns the time before which a server wants no request (RFC 9110, 10.2.3: seconds or a date); zero if the
// answer does not say. Whatever the server writes, the time is at most limit after the end of the visit, so that no
// answer puts a URI off for years.
func RetryAfter(status int, h http.Header, finished time.Time, limit time.Duration) time.Time {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return time.Time{}
	}
	value, latest := strings.TrimSpace(h.Get("Retry-After")), finished.Add(limit)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds >= int64(limit/time.Second) { // the error says that it is out of range
			return latest
		}
		return finished.Add(time.Duration(seconds) * time.Second)
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return time.Time{}
	}
	if date.After(latest) {
		return latest
	}
	return date
}
