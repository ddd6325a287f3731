package config

import (
	"testing"
	"time"
)

// TestRecipientsMayHaveADay reads recipients with and without the day of their digest, which is a weekday.
func TestRecipientsMayHaveADay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Recipient{
		"a@b.example":                      {Address: "a@b.example"},
		"a@b.example daily":                {Address: "a@b.example"},
		"press=a@b.example  Monday":        {Label: "press", Address: "a@b.example", Weekly: true, Weekday: time.Monday},
		" daily news = a@b.example sunday": {Label: "daily news", Address: "a@b.example", Weekly: true, Weekday: time.Sunday},
	} {
		if got := (Mail{To: []string{text}}).Recipients()[0]; got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
		if problem, _ := checkRecipient(text); problem != "" {
			t.Errorf("%q %s", text, problem)
		}
	}
	for _, text := range []string{"a@b.example weekly", "a@b.example monday tuesday", "monday", "press= monday", "=a@b.example", "a@b.example mon"} {
		if problem, _ := checkRecipient(text); problem == "" {
			t.Errorf("%q is accepted", text)
		}
	}
}
