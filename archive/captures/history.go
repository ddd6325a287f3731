package captures

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/human"
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

// notModified is the end of the profile of a revisit that the server answered with 304.
const notModified = "server-not-modified"

// notes returns the reason and the result of the visit in a few words.
func (c Capture) notes() (reason, result string) {
	if c.Damage != nil {
		return "-", c.Damage.Error()
	}
	noted := c.metadata()
	join := func(sep string, words ...string) string {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		return cmp.Or(strings.Join(words, sep), "-")
	}
	via := noted["via"]
	if via != "" {
		via = "via " + via
	}
	state, why := noted["contentState"], noted["contentStateReason"]
	if state == "" && c.Profile == notModified { // the profile says all
		state, why = "unchanged", "not modified (304)" // in the words of other metadata records
	}
	return join(", ", noted["visitReason"], via), join(": ", state, why)
}

// metadata returns the fields of the metadata record by name. The values of several fields of a name are lines.
func (c Capture) metadata() map[string]string {
	fields := map[string]string{}
	for _, f := range c.Why {
		if before, again := fields[f.Name]; again {
			f.Value = before + "\n" + f.Value
		}
		fields[f.Name] = f.Value
	}
	return fields
}

// WriteJSON writes a JSON object on a line for each capture.
func WriteJSON(out io.Writer, captures []Capture) error {
	enc := json.NewEncoder(out)
	for _, c := range captures {
		line := map[string]any{
			"uri": c.URL, "date": c.Date.Format(time.RFC3339Nano), "record": c.Type, "profile": c.Profile, "id": c.RecordID,
			"status": c.Status, "mime": c.MIME, "digest": c.Digest, "size": c.Size,
			"file": c.Filename, "offset": c.Offset, "length": c.Length,
			"refersTo": c.RefersTo.RecordID, "refersToURI": c.RefersTo.URI,
			"refersToContainer": c.RefersTo.Container, "metadata": c.metadata(),
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

// Version names the captures of a URI in a period: not before From, and before To.
type Version struct {
	URI      string
	From, To time.Time // zero = the latest capture
}

// ParseVersion parses URI@date. The date is 20261121090000 or 2026-11-21T09:00:00Z, or a beginning of one of them from
// the year on. The T may be a space, and the Z may be left out: all times are UTC. If no date follows the last @, the
// whole text is a URI, and the version is its latest capture.
func ParseVersion(s string) Version {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return Version{URI: s}
	}
	from, to, err := human.ParsePeriod(s[i+1:])
	if err != nil {
		return Version{URI: s}
	}
	return Version{URI: s[:i], From: from, To: to}
}

// Choose returns the last capture in the period of a version. If there is none, exact is false and the result is the
// last capture before the period, which an archive would have replayed at that time. Captures are oldest first.
func (v Version) Choose(captures []Capture) (c Capture, exact bool, err error) {
	all := captures
	if !v.To.IsZero() {
		captures = captures[:sort.Search(len(captures), func(i int) bool { return !captures[i].Date.Before(v.To) })]
	}
	if len(captures) == 0 {
		if v.To.IsZero() {
			return Capture{}, false, fmt.Errorf("%w: %s", warc.ErrNotFound, v.URI)
		}
		first := ""
		if len(all) > 0 {
			first = "; the first is of " + all[0].Date.Format(time.RFC3339)
		}
		return Capture{}, false, fmt.Errorf("%w: %s before %s%s", warc.ErrNotFound, v.URI, v.To.Format(time.RFC3339), first)
	}
	c = captures[len(captures)-1]
	return c, !c.Date.Before(v.From), nil
}
