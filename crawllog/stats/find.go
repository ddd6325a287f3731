package stats

import (
	"bufio"
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/textfile"
)

// Visit is a visit to one URI, as logged.
type Visit struct {
	At      time.Time     // of logging
	Status  int           // HTTP status, or a negative code of Heritrix
	State   string        // "changed", "unchanged", "unknown" or "failed", see the package comment
	Size    int64         // bytes of the body; negative = none
	Wait    time.Duration // until the next visit
	Overdue time.Duration
	Notes   []string // annotations, except the ones of the schedule
}

// Find returns the visits to a URI that are in a log and in the rotated files next to it, oldest first. It reads from
// the newest file back, and stops when it has found maxVisits or read maxBytes, after decompression. complete is
// false if it left older bytes or files unread.
func Find(
	ctx context.Context, path, uri string, maxVisits int, maxBytes int64,
) (visits []Visit, complete bool, err error) {
	logs, err := Follow(path, Position{}).logs()
	if err != nil {
		return nil, false, err
	}
	slices.Reverse(logs)
	for i, l := range logs {
		in, read, whole, err := findIn(ctx, l.name, uri, maxBytes)
		if err != nil {
			return nil, false, err
		}
		visits = append(in, visits...)
		maxBytes -= read
		if over := len(visits) - maxVisits; over >= 0 {
			return visits[over:], over == 0 && whole && i == len(logs)-1, nil
		}
		if !whole || maxBytes <= 0 && i < len(logs)-1 {
			return visits, false, nil
		}
	}
	return visits, true, ctx.Err()
}

// findIn reads the last maxBytes of a file, or the first maxBytes if it is compressed.
func findIn(ctx context.Context, name, uri string, maxBytes int64) (visits []Visit, read int64, whole bool, err error) {
	f, err := textfile.Open(name)
	if err != nil {
		return nil, 0, false, err
	}
	defer f.Close()
	whole = true
	buffer := bufio.NewReaderSize(f, 8*crawllog.MaxLine)
	if !f.Compressed() {
		end, err := f.Size()
		if err == nil {
			err = f.Skip(max(0, end-maxBytes))
		}
		if err != nil {
			return nil, 0, false, err
		}
		if whole = end <= maxBytes; !whole { // probably in the middle of a line
			n, _, err := nextLine(buffer)
			if err != nil {
				return nil, n, false, ignoreEnd(err)
			}
			read += n
		}
	}
	wanted := []byte(" " + uri + " ")
	for read < maxBytes && ctx.Err() == nil {
		n, line, err := nextLine(buffer)
		if err != nil {
			return visits, read, whole, ignoreEnd(err)
		}
		read += n
		if v, ok := visitOf(line, wanted, uri); ok {
			visits = append(visits, v)
		}
	}
	_, err = buffer.Peek(1)
	return visits, read, whole && err != nil, ctx.Err()
}

// visitOf reads a line if it is of the URI. wanted is part of each such line, for a fast check.
func visitOf(line, wanted []byte, uri string) (Visit, bool) {
	var g crawllog.RawEntry
	if !bytes.Contains(line, wanted) || !g.Parse(line) || string(g.URI) != uri {
		return Visit{}, false
	}
	var t Tally
	t.Add(&g)
	v := Visit{
		At: time.UnixMilli(g.Logged).UTC(), Status: g.Status, State: "unknown", Size: g.Size,
		Wait: g.Wait, Overdue: g.Overdue,
	}
	switch {
	case t.Failed+t.NotTried > 0:
		v.State = "failed"
	case t.Versions > 0:
		v.State = "changed"
	case t.Unchanged > 0:
		v.State = "unchanged"
	}
	if e, err := crawllog.Parse(string(line)); err == nil {
		v.Notes = slices.DeleteFunc(e.Annotations, func(a string) bool {
			return a == crawllog.Unchanged || strings.HasPrefix(a, crawllog.Spared)
		})
	}
	return v, true
}
