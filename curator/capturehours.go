package curator

import (
	"bytes"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// hours has the hours of the captures in one file by host, in seconds since 1970. The file bounds it: at most 50,000.
type hours struct{ of map[string][]uint32 }

// add adds a capture. A visit that found nothing new is not counted.
func (h *hours) add(host, kind string, at time.Time) {
	if kind == api.CaptureChecked {
		return
	}
	if h.of == nil {
		h.of = map[string][]uint32{}
	}
	h.of[host] = append(h.of[host], uint32(max(at.Unix(), 0)))
}

// hoursOf reads the lines of a file. Only a line that does not look as the program writes it is parsed completely.
func hoursOf(text []byte) (h hours) {
	for line := range bytes.Lines(text) {
		at, rest, ok := quotedIn(line, `{"at":"`)
		host, rest, ok2 := quotedIn(rest, `,"host":"`)
		moment, err := time.Parse(time.RFC3339Nano, string(at))
		checked := bytes.Contains(rest, []byte(`"`+api.CaptureChecked+`"`))
		if ok && ok2 && err == nil && !checked && !bytes.ContainsRune(host, '\\') {
			h.add(string(host), "", moment)
		} else if c, ok := parse(line); ok {
			h.add(c.Host, c.Kind, c.At)
		}
	}
	return h
}

// quotedIn returns the text between a prefix and the next quotation mark, and what follows.
func quotedIn(line []byte, prefix string) (text, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(line, []byte(prefix))
	text, rest, closed := bytes.Cut(text, []byte(`"`))
	return text, rest, ok && closed
}

// Hours counts the captures of a host by day of the week, from Sunday, and hour of the day in UTC.
func (s *captureStore) Hours(host string) (h Hours) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.hours {
		for _, hour := range s.hours[i].of[host] {
			at := time.Unix(int64(hour), 0).UTC()
			h.Counts[at.Weekday()][at.Hour()]++
			if h.Captures++; h.Since == nil || at.Before(*h.Since) {
				h.Since = api.Moment(at)
			}
		}
	}
	return h
}
