package config_test

import (
	"testing"

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
