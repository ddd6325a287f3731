package config_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

func TestWhatIsDeduplicated(t *testing.T) {
	t.Parallel()
	c := load(t, "[dedup]\nskip_mime = ['^text/.*']\nmin_size = \"1KiB\"\n",
		"off.example.toml", "[dedup]\nby = \"off\"\n",
		"images.example.toml", "[dedup]\nonly_mime = ['^image/.*']\nskip_mime = []\n")
	for _, row := range []struct {
		name       string
		host, mime string
		size       int64
		want       bool
	}{
		{"what is neither skipped nor small", "a.example", "application/pdf", 1024, true},
		{"a type of the black list", "a.example", "text/html", 9999, false},
		{"what is too small", "a.example", "application/pdf", 1023, false},
		{"nothing where it is off", "off.example", "application/pdf", 9999, false},
		{"a type of the white list", "images.example", "image/png", 9999, true},
		{"a type that is not on it", "images.example", "text/html", 9999, false},
		{"what has no type, where there is a white list", "images.example", "", 9999, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := c.For(config.About{URI: parse(t, "http://"+row.host+"/")}).Dedup.Covers(row.mime, row.size); got != row.want {
				t.Errorf("Covers(%q, %d) on %s = %v, want %v", row.mime, row.size, row.host, got, row.want)
			}
		})
	}
}

func TestRevisitsAreThinnedByPeriod(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return day.Add(d) }
	for _, row := range []struct {
		name        string
		revisits    config.Revisits
		before, now time.Duration
		want        bool
	}{
		{"each visit", config.Revisits{}, 0, time.Second, true},
		{"none", config.Revisits{None: true}, 0, 999 * time.Hour, false},
		{"the second of a day", config.Revisits{Once: 24 * time.Hour}, time.Hour, 23 * time.Hour, false},
		{"the first of a day, though the last was an hour ago", config.Revisits{Once: 24 * time.Hour}, 23*time.Hour + 30*time.Minute, 24*time.Hour + 30*time.Minute, true},
		{"the first in a week", config.Revisits{Once: 7 * 24 * time.Hour}, -7 * 24 * time.Hour, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.revisits.Wants(at(row.now), at(row.before)); got != row.want {
				t.Errorf("Wants = %v, want %v", got, row.want)
			}
		})
	}
}
