package config_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/config"
)

func TestPayloadsBelow1kBAreStoredWholeByDefault(t *testing.T) {
	t.Parallel()
	d := load(t, "").For(config.About{URI: parse(t, "http://a.example/")}).Dedup
	if d.Covers("text/html", 999) || !d.Covers("text/html", 1000) {
		t.Error("the smallest payload that is deduplicated has not 1,000 bytes")
	}
}

func TestDedupCovers(t *testing.T) {
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
		{"neither skipped nor small", "a.example", "application/pdf", 1024, true},
		{"a type in skip_mime", "a.example", "text/html", 9999, false},
		{"too small", "a.example", "application/pdf", 1023, false},
		{"switched off", "off.example", "application/pdf", 9999, false},
		{"a type in only_mime", "images.example", "image/png", 9999, true},
		{"a type that is not in only_mime", "images.example", "text/html", 9999, false},
		{"no type, with only_mime", "images.example", "", 9999, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := c.For(config.About{
				URI: parse(t, "http://"+row.host+"/"),
			}).Dedup.Covers(row.mime, row.size); got != row.want {
				t.Errorf("Covers(%q, %d) on %s = %v, want %v", row.mime, row.size, row.host, got, row.want)
			}
		})
	}
}
