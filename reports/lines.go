package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// The bounds of a command that follows the log.
const (
	followEvery   = time.Second
	followSeconds = "10" // that a node reads at once
	linesAtOnce   = 1000
	maxHeld       = 10_000
)

// printLines prints the last lines in the logs of all nodes. If the period has no end, it continues until its context
// ends.
func (s *logStats) printLines(cmd *cobra.Command, p Period) error {
	client, err := s.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	var missing, said string
	client.Missing(func(what string) { missing = what })
	ctx, lines := cmd.Context(), linesInOrder{out: cmd.OutOrStdout(), asJSON: s.JSON}
	for q := s.question(p); ; missing = "" {
		answer, err := client.Log(ctx, q, s.only)
		var refused api.Refusal
		switch busy := errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable; {
		case ctx.Err() != nil:
			return nil
		case err != nil && (!busy || !p.To.IsZero()):
			return s.Advise(err)
		case err == nil:
			if answer.Gap {
				missing = ErrGap.Error()
			}
			if answer.More && !q.Has("after") {
				missing = "earlier lines were not searched: choose a shorter time with --since and --until"
			}
			if missing != said && missing != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "note: "+missing)
			}
			said = missing
			if err := lines.add(answer, !p.To.IsZero()); err != nil || !p.To.IsZero() {
				return err
			}
			after, _ := json.Marshal(answer.Next) // it was decoded from JSON
			q.Set("after", string(after))
			q.Set("limit", strconv.Itoa(linesAtOnce))
		}
		if !answer.More && cli.Wait(ctx, followEvery) != nil {
			return nil
		}
	}
}

// question returns the question for the last lines.
func (s *logStats) question(p Period) url.Values {
	most := s.top
	if most < 1 || most > linesAtOnce {
		most = linesAtOnce
	}
	q := url.Values{"host": {s.host}, "limit": {strconv.Itoa(most)}, "seconds": {followSeconds}}
	for name, at := range map[string]time.Time{"since": p.From, "until": p.To} {
		if !at.IsZero() {
			q.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return q
}

// linesInOrder prints lines of several nodes by time. It holds those back that a line of another node may precede, but
// not for longer than one answer: the clock of a node may be wrong.
type linesInOrder struct {
	out    io.Writer
	asJSON bool
	held   []api.LogLine
	last   time.Time // of a line in the answer before
}

// add adds an answer, and prints what is in order.
func (l *linesInOrder) add(answer api.Log, all bool) error {
	sure := answer.Read
	if (!answer.More || len(l.held) > maxHeld) && l.last.After(sure) {
		sure = l.last
	}
	l.held = append(l.held, answer.Lines...)
	slices.SortStableFunc(l.held, func(a, b api.LogLine) int { return a.At.Compare(b.At) })
	for len(l.held) > 0 && (all || !l.held[0].At.After(sure)) {
		if err := l.print(l.held[0]); err != nil {
			return err
		}
		l.held = l.held[1:]
	}
	if n := len(answer.Lines); n > 0 {
		l.last = answer.Lines[n-1].At
	}
	return nil
}

// print prints a line, behind the name of its node.
func (l *linesInOrder) print(line api.LogLine) error {
	if l.asJSON {
		e := json.NewEncoder(l.out)
		e.SetEscapeHTML(false)
		return e.Encode(line)
	}
	if line.Node != "" {
		line.Line = line.Node + "  " + line.Line
	}
	_, err := fmt.Fprintln(l.out, line.Line)
	return err
}
