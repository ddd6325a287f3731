package depend

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Write writes what a file needs and which files need it, as lines for people.
func (d Dependencies) Write(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", d.File, human.Count(d.Captures, "capture"))
	for _, f := range d.Needs {
		gone := ""
		if f.Gone {
			gone = ", which is not here,"
		}
		fmt.Fprintf(&text, "  needs %s%s for %s\n", f.File, gone, human.Count(f.Revisits, "revisit"))
	}
	for _, f := range d.NeededBy {
		fmt.Fprintf(&text, "  is needed by %s for %s\n", f.File, human.Count(f.Revisits, "revisit"))
	}
	if d.Missing > 0 {
		fmt.Fprintf(&text, "  lacks the originals of %s\n", human.Count(d.Missing, "revisit"))
	}
	for _, f := range d.Packages {
		fmt.Fprintf(&text, "  %d of them are in %s, say the revisits\n", f.Revisits, f.File)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// Write writes a line for people.
func (l Lost) Write(out io.Writer) error {
	from := ""
	if l.Original != "" {
		from = ", a revisit of a record in " + l.Original
	}
	if l.Saved {
		from += "; the payload is also elsewhere"
	}
	_, err := fmt.Fprintf(out, "%s %s in %s:%d%s\n", l.Date, l.URI, l.File, l.Offset, from)
	return err
}

// WriteLosses writes a table of losses, with their sum in the last line.
func WriteLosses(out io.Writer, losses []Loss) error {
	var all Loss
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HOST\tPERIOD\tLOST\tREVISITS ELSEWHERE\tPAYLOAD LEFT")
	for _, l := range losses {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\n", l.Host, l.Period, l.Captures, l.Revisits, l.Saved)
		all.Captures, all.Revisits, all.Saved = all.Captures+l.Captures, all.Revisits+l.Revisits, all.Saved+l.Saved
	}
	fmt.Fprintf(table, "all\t\t%d\t%d\t%d\n", all.Captures, all.Revisits, all.Saved)
	return table.Flush()
}
