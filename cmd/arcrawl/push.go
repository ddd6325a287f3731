package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/outbackcdx"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/human"
)

// newPush returns a push to a server that prints to the standard error of cmd. sentPath names the list of sent files.
// The caller closes the list.
func newPush(cmd *cobra.Command, server, sentPath string, asJSON bool) (*outbackcdx.Push, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") == "" {
		return nil, usageError{fmt.Errorf("--push %q: want the address of a collection, such as http://localhost:8901/arcrawl", server)}
	}
	out := cmd.ErrOrStderr()
	p := &outbackcdx.Push{
		Server: u.Redacted(), Finding: printFinding(out, asJSON), Wait: waitFor,
		Open: func(path string) { fmt.Fprintf(out, "%s: skipped, because the daemon still writes to it\n", path) },
		Collection: &outbackcdx.Collection{
			Post: func(ctx context.Context, lines []byte) (int, string, error) {
				return fetch.PostLines(ctx, server, "arcrawl/"+programVersion(), lines)
			},
			Refused: func(e index.Entry, why error) {
				fmt.Fprintf(out, "%s:%d: skipped %s: %v\n", e.Filename, e.Offset, e.URL, why)
			},
		},
	}
	var noFile *fs.PathError
	switch p.Sent, err = outbackcdx.OpenSentFiles(sentPath, p.Server); {
	case errors.Is(err, outbackcdx.ErrOtherServer):
		return nil, usageError{fmt.Errorf("--done: %w; name another file", err)}
	case errors.As(err, &noFile):
		return nil, daemon.FolderError{Err: fmt.Errorf("--done: %w", err)}
	}
	return p, err
}

// pushFiles sends the captures of all files in paths and prints what was sent.
func pushFiles(cmd *cobra.Command, p *outbackcdx.Push, paths []string) (err error) {
	defer func() { err = errors.Join(err, p.Sent.Close()) }()
	stop := showLine(cmd.ErrOrStderr(), func() string {
		files, total, captures := p.Progress()
		return fmt.Sprintf("%d of %s, %s sent", files, human.Count(total, "file"), human.Count(captures, "capture"))
	})
	r, err := p.Run(cmd.Context(), paths)
	stop()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s of %s sent to %s; %s sent before, %d still open; %s refused, %s\n",
		human.Count(r.Captures, "capture"), human.Count(r.Files, "file"), p.Server, human.Count(r.Known, "file"), r.Open,
		human.Count(r.Refused, "capture"), human.Count(r.Damaged, "error"))
	switch {
	case err != nil:
		return err
	case r.Damaged > 0:
		return fmt.Errorf("%w: %s, listed above; everything else was sent", warc.ErrDamaged, human.Count(r.Damaged, "error"))
	case r.Refused > 0:
		return fmt.Errorf("%s refused %s, listed above; it has all others", p.Server, human.Count(r.Refused, "capture"))
	}
	return nil
}

// waitFor waits for d, or until ctx ends.
func waitFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
