package stats

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
)

// Visit is a visit to one URI, as the log has it.
type Visit struct {
	At      time.Time     // of logging
	Status  int           // HTTP status, or a negative code of Heritrix
	State   string        // "changed", "unchanged", "unknown" or "failed", see the package comment
	Size    int64         // bytes of the body; less than zero = none
	Wait    time.Duration // until the next visit
	Overdue time.Duration
	Notes   []string // annotations but for those of the schedule
}

// Find looks for the visits to a URI in a log and what was rotated away beside it, from the newest file back, and stops when it has read
// so many bytes or found most visits. They come oldest first; complete is false if older files or bytes were left unread. What is
// compressed counts for what it unpacks to.
func Find(ctx context.Context, path, uri string, most int, bytesRead int64) (visits []Visit, complete bool, err error) {
	logs, err := Follow(path, Place{}).logs()
	if err != nil {
		return nil, false, err
	}
	slices.Reverse(logs)
	for i, l := range logs {
		in, read, whole, err := findIn(ctx, l.name, uri, bytesRead)
		if err != nil {
			return nil, false, err
		}
		visits = append(in, visits...)
		bytesRead -= read
		if over := len(visits) - most; over >= 0 {
			return visits[over:], over == 0 && whole && i == len(logs)-1, nil
		}
		if !whole || bytesRead <= 0 && i < len(logs)-1 {
			return visits, false, nil
		}
	}
	return visits, true, ctx.Err()
}

// findIn reads the last bytes of a file, or as many of its first ones if it is compressed.
func findIn(ctx context.Context, name, uri string, most int64) (visits []Visit, read int64, whole bool, err error) {
	r, err := open(name)
	if err != nil {
		return nil, 0, false, err
	}
	defer r.Close()
	whole = true
	buffer := bufio.NewReaderSize(r, 8*crawllog.MaxLine)
	if f, ok := r.(*os.File); ok {
		end, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, 0, false, err
		}
		whole = end <= most
		if _, err := f.Seek(max(0, end-most), io.SeekStart); err != nil {
			return nil, 0, false, err
		}
		if !whole { // probably within a line
			n, _, err := nextLine(buffer)
			if err != nil {
				return nil, n, false, ignoreEnd(err)
			}
			read += n
		}
	}
	wanted := []byte(" " + uri + " ")
	for read < most && ctx.Err() == nil {
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

// visitOf reads a line if it is of the URI; the bytes that are wanted are a quick way to say no.
func visitOf(line, wanted []byte, uri string) (Visit, bool) {
	var g crawllog.Glance
	if !bytes.Contains(line, wanted) || !g.Read(line) || string(g.URI) != uri {
		return Visit{}, false
	}
	var t Tally
	t.Add(&g)
	v := Visit{At: time.UnixMilli(g.Logged).UTC(), Status: g.Status, State: "unknown", Size: g.Size, Wait: g.Wait, Overdue: g.Overdue}
	switch {
	case t.Failed+t.NotTried > 0:
		v.State = "failed"
	case t.Versions > 0:
		v.State = "changed"
	case t.Unchanged > 0:
		v.State = "unchanged"
	}
	if e, err := crawllog.Parse(string(line)); err == nil {
		v.Notes = slices.DeleteFunc(e.Annotations, func(a string) bool { return a == crawllog.Unchanged || strings.HasPrefix(a, crawllog.Spared) })
	}
	return v, true
}
