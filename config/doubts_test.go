package config_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// A file for a host that the crawl found by itself, such as a content delivery network, is not doubtful.
func TestFilesOfKnownHostsAreNotDoubtful(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{
		"arcrawl.toml":                    operator + "[seeds]\nuris = [\"https://www.news.example/\"]\n",
		"hosts.d/cdn.images.example.toml": "[politeness]\nvalence = 2\n",
	})
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Doubts(time.Now(), nil); len(got) != 1 {
		t.Errorf("unknown host: %v, want one warning", got)
	}
	known := func(pattern string) bool { return pattern == "*.cdn.images.example" }
	if got := c.Doubts(time.Now(), known); len(got) != 0 {
		t.Errorf("known host: %v, want no warning", got)
	}
}
