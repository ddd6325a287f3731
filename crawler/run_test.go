package crawler

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/frontier"
)

func TestOnlyDamageEndsTheEviction(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := zerolog.New(&text)
	if err := reportRoom(log, 1, errors.New("the disk is full")); err != nil {
		t.Errorf("a full disk ends the eviction: %v", err)
	}
	if err := reportRoom(log, 0, frontier.ErrCorrupt); !errors.Is(err, frontier.ErrCorrupt) {
		t.Errorf("a damaged store does not end the eviction: %v", err)
	}
	if !strings.Contains(text.String(), "the disk is full") || !strings.Contains(text.String(), `"hosts":1`) {
		t.Errorf("the log has\n%s", &text)
	}
}
