package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/arcrawl/arcrawl/frontier"
)

const (
	// Batch is how many URIs one step looks up.
	Batch = 1000
	// importBatch is how many entries one step imports. Each is a write.
	importBatch = 200
	// MaxLine is the maximum length of a line that Import reads, in bytes. Every line of an export is shorter.
	MaxLine = 1 << 20
)

// EachSelected calls f with every selected entry.
func EachSelected(ctx context.Context, s Store, sel frontier.Selection, f func(frontier.Entry) error) error {
	return steps(ctx, func(from frontier.Cursor) (frontier.Cursor, error) {
		list, next, err := s.List(ctx, sel, from, Batch)
		if err != nil {
			return "", err
		}
		for _, e := range list {
			if err := f(e); err != nil {
				return "", err
			}
		}
		return next, nil
	})
}

// CountSelected counts the selected entries.
func CountSelected(ctx context.Context, s Store, sel frontier.Selection) (total int64, err error) {
	err = steps(ctx, func(from frontier.Cursor) (frontier.Cursor, error) {
		n, next, err := s.Count(ctx, sel, from)
		total += n
		return next, err
	})
	return total, err
}

// Steer applies an action to every selected entry.
func Steer(
	ctx context.Context, s Store, sel frontier.Selection, a frontier.Action,
) (total frontier.Steered, err error) {
	err = steps(ctx, func(from frontier.Cursor) (frontier.Cursor, error) {
		done, next, err := s.Steer(ctx, sel, a, from)
		total = total.Plus(done)
		return next, err
	})
	return total, err
}

// steps calls step with the cursor that it returned the last time, until it returns "".
func steps(ctx context.Context, step func(from frontier.Cursor) (frontier.Cursor, error)) error {
	from, err := step("")
	for err == nil && from != "" {
		if err = ctx.Err(); err == nil {
			from, err = step(from)
		}
	}
	return err
}

// ImportEntries stores the entries in lines of JSON, as an export has them. The first faulty line ends it; name is the
// name of the input in that error. Known URIs stay unchanged unless replace is set.
func ImportEntries(
	ctx context.Context, s Store, in io.Reader, name string, replace bool,
) (total frontier.Imported, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxLine)
	var batch []frontier.Entry
	flush := func() error {
		part, err := s.Import(ctx, replace, batch...)
		total, batch = total.Plus(part), batch[:0]
		return errors.Join(err, ctx.Err())
	}
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var e frontier.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			err = fmt.Errorf("%s, line %d: %w; expected a line that arcrawl frontier list --output writes", name, n, err)
			return total, errors.Join(err, flush())
		}
		if batch = append(batch, e); len(batch) == importBatch {
			if err := flush(); err != nil {
				return total, err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return total, fmt.Errorf("read %s: %w", name, err)
	}
	return total, flush()
}
