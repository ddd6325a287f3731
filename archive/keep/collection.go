package keep

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/archive/index"
)

// The bounds of one request to a server.
const (
	MaxLines = 1000
	MaxBytes = 1 << 20
)

// maxRefused is how many lines a server may refuse in a row, each alone, before the server is considered faulty.
const maxRefused = 16

// ErrRefused says that the server found a fault in the lines that it received.
var ErrRefused = errors.New("the server refuses the lines")

// Collection is a collection of an OutbackCDX server.
type Collection struct {
	// Post sends lines to the collection. It returns the status and the beginning of the answer.
	Post func(ctx context.Context, lines []byte) (status int, answer string, err error)
	// Refused is called with each line that the server does not accept although it accepts others.
	Refused func(e index.Entry, why error)

	works bool // the server has accepted lines
}

// Send sends entries to the collection. An entry that the server refuses alone is skipped if the server has accepted
// others. So one faulty line does not delay the others, and nothing is lost if a server refuses everything. The
// entries are to be sent again after an error; lines that a server has twice are stored once.
func (c *Collection) Send(ctx context.Context, entries []index.Entry) error {
	var refused []index.Entry
	var why error
	for parts := [][]index.Entry{entries}; len(parts) > 0; {
		part := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		err := c.post(ctx, part)
		switch {
		case err == nil:
			c.works = true
		case !errors.Is(err, ErrRefused):
			return err
		case len(part) > 1:
			half := len(part) / 2
			parts = append(parts, part[half:], part[:half])
		default:
			refused, why = append(refused, part[0]), err
		}
		if !c.works && len(refused) >= maxRefused {
			return why
		}
	}
	if !c.works {
		return why
	}
	for _, e := range refused {
		c.Refused(e, why)
	}
	return nil
}

// post sends entries in one request. It requires an answer in the words of OutbackCDX, because a proxy may also
// answer 200.
func (c *Collection) post(ctx context.Context, entries []index.Entry) error {
	lines := []byte(" CDX N b a m s k r M S V g\n")
	for _, e := range entries {
		lines = e.AppendCDX(lines)
	}
	status, answer, err := c.Post(ctx, lines)
	if err != nil {
		return err
	}
	answer, _, _ = strings.Cut(answer, "\n")
	switch {
	case status/100 == 2 && strings.HasPrefix(answer, "Added "):
		return nil
	case status == http.StatusBadRequest:
		return fmt.Errorf("%w: it answers %d: %.200q", ErrRefused, status, answer)
	default:
		return fmt.Errorf("the server answers %d: %.200q; want 200 and \"Added …\": is this the address of a collection of OutbackCDX?", status, answer)
	}
}
