package compare

import (
	"runtime"
	"strings"
	"testing"
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
