package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/archive/index"
)

// The bounds of what is sent to an OutbackCDX server.
const (
	pushLines = 1000
	pushBytes = 1 << 20
	// maxRefused is how many lines may be refused in a row, each alone, before the fault is sought in the server.
	maxRefused = 16
)

// errRefused says that the server found fault with what it was sent, not with itself.
var errRefused = errors.New("the server refuses the lines")

// outback is a collection of an OutbackCDX server.
type outback struct {
	post     func(ctx context.Context, lines []byte) (status int, says string, err error)
	leaveOut func(e index.Entry, why error) // is told of a line that the server does not take
	works    bool                           // it has taken lines
}

// deliver sends all entries. One that is refused alone is left out when the server has taken others: so one bad line does not hold up the
// rest, and a server that refuses everything costs nothing.
func (o *outback) deliver(ctx context.Context, all []index.Entry) error {
	var refused []index.Entry
	var why error
	for rest := [][]index.Entry{all}; len(rest) > 0; {
		part := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		err := o.send(ctx, part)
		switch {
		case err == nil:
			o.works = true
		case !errors.Is(err, errRefused):
			return err
		case len(part) > 1:
			half := len(part) / 2
			rest = append(rest, part[half:], part[:half])
		default:
			refused, why = append(refused, part[0]), err
		}
		if !o.works && len(refused) >= maxRefused {
			return why
		}
	}
	if !o.works {
		return why
	}
	for _, e := range refused {
		o.leaveOut(e, why)
	}
	return nil
}

// send sends entries in one request. An answer counts only in the words of OutbackCDX: a proxy in between may say 200 as well.
func (o *outback) send(ctx context.Context, entries []index.Entry) error {
	lines := []byte(" CDX N b a m s k r M S V g\n")
	for _, e := range entries {
		lines = e.AppendCDX(lines)
	}
	status, says, err := o.post(ctx, lines)
	if err != nil {
		return err
	}
	says, _, _ = strings.Cut(says, "\n")
	switch {
	case status/100 == 2 && strings.HasPrefix(says, "Added "):
		return nil
	case status == http.StatusBadRequest:
		return fmt.Errorf("%w: it answers %d: %.200q", errRefused, status, says)
	default:
		return fmt.Errorf("the server answers %d: %.200q; want 200 and \"Added …\": is this the address of a collection of OutbackCDX?", status, says)
	}
}
