package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// maxFalseOrigins is the maximum number of records that fsck names.
const maxFalseOrigins = 1000

// printFalseOrigins names the records in the folder archive that the dedup index refers to although they are not
// responses. They are no damage of the store: the daemon finds them too and drops them.
func printFalseOrigins(ctx context.Context, out io.Writer, f *frontier.Frontier, archive string) error {
	i, err := dedup.Open(f.DB(), dedup.Options{})
	if err != nil {
		return err
	}
	if done, _ := i.Proven(); done {
		return nil
	}
	found, err := i.FalseOrigins(ctx, maxFalseOrigins, warc.IsOrigin(archive))
	if err != nil || len(found) == 0 {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\nThe dedup index refers to %s that are not responses:\n", human.Count(len(found), "record"))
	for _, o := range found {
		fmt.Fprintf(&text, "  %q at %d, %q\n", o.File, o.Offset, o.URI)
	}
	text.WriteString("Replay cannot show revisits of them. The daemon drops them from the index when it runs, and archives their " +
		"payloads again.\nTo find revisits that refer to them already, use arcrawl verify.\n")
	_, err = io.WriteString(out, text.String())
	return err
}
