package index

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// NotFound returns an error for a URI without captures. It wraps [warc.ErrNotFound] and names similar URIs.
func (l *Library) NotFound(uri string) error {
	alike, err := l.Alike(uri)
	if err != nil {
		return err
	}
	if i := strings.LastIndexByte(uri, '@'); i >= 0 && len(alike) == 0 {
		return fmt.Errorf("%w: %s; if %q should be a date, write it like 2026-11-21T09:00:00Z or 20261121090000, or the start of one",
			warc.ErrNotFound, uri, uri[i+1:])
	}
	if len(alike) == 0 {
		return fmt.Errorf("%w: %s", warc.ErrNotFound, uri)
	}
	return fmt.Errorf("%w: %s; similar URIs: %s", warc.ErrNotFound, uri, strings.Join(alike[:min(len(alike), 5)], ", "))
}

// ShownDate is the layout of dates of captures for people: the layout of WARC-Date, with microseconds.
const ShownDate = "2006-01-02T15:04:05.000000Z"

// WriteTable writes a table with a line for each capture.
func WriteTable(out io.Writer, captures []Capture) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DATE\tSTATUS\tRECORD\tDIGEST\tSIZE\tWHERE\tWHY\tFOUND")
	for _, c := range captures {
		kind, bytes := c.Type, strconv.FormatInt(c.Size, 10)
		switch {
		case c.IsElsewhere():
			kind, bytes = "elsewhere", "-"
		case c.Damage != nil:
			kind, bytes = "damaged", "-"
		case kind == "revisit":
			kind, bytes = kind+" ("+c.Profile+")", "-"
		}
		reason, result := c.notes()
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s:%d\t%s\t%s\n", c.Date.Format(ShownDate), cmp.Or(c.Status, "-"),
			kind, c.Digest, bytes, c.Filename, c.Offset, reason, result)
	}
	return table.Flush()
}

// notes returns the reason and the result of the visit in a few words.
func (c Capture) notes() (reason, result string) {
	if c.Damage != nil {
		return "-", c.Damage.Error()
	}
	noted := map[string]string{}
	for _, f := range c.Why {
		noted[f.Name] = f.Value
	}
	join := func(sep string, words ...string) string {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		return cmp.Or(strings.Join(words, sep), "-")
	}
	via := noted["via"]
	if via != "" {
		via = "via " + via
	}
	return join(", ", noted["visitReason"], via), join(": ", noted["contentState"], noted["contentStateReason"])
}

// WriteJSON writes a JSON object on a line for each capture.
func WriteJSON(out io.Writer, captures []Capture) error {
	enc := json.NewEncoder(out)
	for _, c := range captures {
		notes := map[string]string{}
		for _, f := range c.Why {
			notes[f.Name] = f.Value
		}
		line := map[string]any{
			"uri": c.URL, "date": c.Date.Format(time.RFC3339Nano), "record": c.Type, "profile": c.Profile, "id": c.RecordID,
			"status": c.Status, "mime": c.MIME, "digest": c.Digest, "size": c.Size,
			"file": c.Filename, "offset": c.Offset, "length": c.Length,
			"refersTo": c.RefersTo.RecordID, "refersToURI": c.RefersTo.URI,
			"refersToContainer": c.RefersTo.Container, "metadata": notes,
		}
		switch {
		case c.IsElsewhere():
			line["elsewhere"] = c.Damage.Error()
		case c.Damage != nil:
			line["damage"] = c.Damage.Error()
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
