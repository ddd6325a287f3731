package schema_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config/schema"
)

func TestParseSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]schema.Span{
		"06:00-23:00":   {From: 6 * time.Hour, To: 23 * time.Hour},
		"22:30 - 06:00": {From: 22*time.Hour + 30*time.Minute, To: 6 * time.Hour},
		"18:00-24:00":   {From: 18 * time.Hour, To: 24 * time.Hour},
	} {
		if got, err := schema.ParseSpan(text); err != nil || got != want {
			t.Errorf("ParseSpan(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "6-23", "06:00", "06:00-25:00", "06:00:00-07:00"} {
		if got, err := schema.ParseSpan(text); err == nil || errors.Is(err, schema.ErrEmpty) {
			t.Errorf("ParseSpan(%q) = %v, %v; want that it is not a part of the day", text, got, err)
		}
	}
	for _, text := range []string{"06:00-06:00", "24:00-06:00"} {
		if _, err := schema.ParseSpan(text); !errors.Is(err, schema.ErrEmpty) {
			t.Errorf("ParseSpan(%q) = %v, want ErrEmpty", text, err)
		}
	}
}

func TestParseWeekdays(t *testing.T) {
	t.Parallel()
	got, ok := schema.ParseWeekdays("fri-mon")
	want := []time.Weekday{time.Friday, time.Saturday, time.Sunday, time.Monday}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("fri-mon, %t (-want +got):\n%s", ok, diff)
	}
	for _, text := range []string{"", "monday", "sat-", "-sat", "mon-fri-sun"} {
		if got, ok := schema.ParseWeekdays(text); ok {
			t.Errorf("ParseWeekdays(%q) = %v, want it refused", text, got)
		}
	}
}
