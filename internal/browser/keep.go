package browser

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Keep saves a screenshot if ARCRAWL_SCREENSHOTS is set.
func Keep(t testing.TB, name string, shot image.Image) {
	t.Helper()
	dir := os.Getenv("ARCRAWL_SCREENSHOTS")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, strings.NewReplacer("/", "-", "?", "-", "%", "").Replace(name)+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, shot); err != nil {
		t.Fatal(err)
	}
}
