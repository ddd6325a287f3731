package compare

import (
	"runtime"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

// TestManyPicturesInOneParagraphTakeLinearMemory reads a page of pictures without a paragraph. It is not parallel,
// because it counts the bytes that the process allocates.
func TestManyPicturesInOneParagraphTakeLinearMemory(t *testing.T) { //nolint:paralleltest // see above
	page := []byte(strings.Repeat("<img alt=a>", 20_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines := readerLines(page, nil)
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; len(lines) == 0 || got > 200 {
		t.Errorf("%d lines, %d MB were allocated for a page of %d kB", len(lines), got, len(page)>>10)
	}
}

// TestManyLinesTakeBoundedMemory reads versions of as many lines as fit. It is not parallel, because it counts the
// bytes that the process allocates.
func TestManyLinesTakeBoundedMemory(t *testing.T) { //nolint:paralleltest // see above
	breaks, paragraphs := []byte(strings.Repeat("\n", maxBytes)), []byte(strings.Repeat("x<p>", maxBytes/4))
	for what, read := range map[string]func() []line{
		"line breaks": func() []line { return sourceLines(breaks, nil) }, "paragraphs": func() []line { return readerLines(paragraphs, nil) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines := read()
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; len(lines) != maxLines || got > 100 {
			t.Errorf("%s: %d lines, %d MB were allocated", what, len(lines), got)
		}
	}
	one, other := strings.Repeat("\n", maxBytes), strings.Repeat("\n ", maxBytes/2)
	got := compared(t, "text/plain", one, other, Source, digest.Spec{})
	if len(got.Notes) == 0 || !strings.Contains(got.Notes[0], "first 100,000 lines") {
		t.Errorf("the notes are %q", got.Notes)
	}
}
