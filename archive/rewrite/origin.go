package rewrite

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// maxShown is the maximum number of hosts or prefixes of a selection that a record names.
const maxShown = 20

// String describes the selection for readers of the new files.
func (s Selection) String() string {
	var parts []string
	list := func(what string, all []string) {
		if shown := all[:min(len(all), maxShown)]; len(all) > 0 {
			text := what + " " + strings.Join(shown, " ")
			if more := len(all) - len(shown); more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			parts = append(parts, text)
		}
	}
	list("hosts", s.Hosts)
	list("prefixes", s.Prefixes)
	if !s.From.IsZero() {
		parts = append(parts, "from "+s.From.UTC().Format(time.RFC3339))
	}
	if !s.To.IsZero() {
		parts = append(parts, "before "+s.To.UTC().Format(time.RFC3339))
	}
	if len(parts) == 0 {
		return "all records"
	}
	return strings.Join(parts, "; ")
}

// begin writes the warcinfo record of the new file, before its first record: from what, how and when it was made. The
// warcinfo records of the old file are copied too, since the copied records refer to them.
func (w *rewriter) begin() error {
	if w.begun || w.o.Software == "" {
		return nil
	}
	w.begun = true
	revisits := "become responses if their originals are in no file of this folder"
	switch {
	case w.o.Keep:
		revisits = "are kept"
	case w.o.All:
		revisits = "become responses"
	}
	var text strings.Builder
	for _, f := range fields(
		"software", w.o.Software,
		"format", "WARC File Format 1.1",
		"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
		"description", "Records copied from another WARC file. Their own warcinfo records follow.",
		"madeFrom", fileLabel(w.file),
		"madeBy", w.o.Command,
		"selection", w.o.Select.String(),
		"revisits", revisits,
	) {
		// A name of a file or host cannot end the line.
		text.WriteString(f.Name + ": " + strings.Map(printable, f.Value) + "\r\n")
	}
	sum := warc.NewHash("sha1")
	_, _ = io.WriteString(sum, text.String()) // a hash never fails
	name, date := filepath.Base(w.name), w.o.Now.UTC().Format(warc.DateLayout)
	return w.emit("WARC/1.1", fields(
		"WARC-Type", "warcinfo",
		"WARC-Record-ID", "<"+renamed("warcinfo of "+w.name+" at "+date)+">",
		"WARC-Date", date,
		"WARC-Filename", strings.Map(printable, name),
		"Content-Type", "application/warc-fields",
		"WARC-Block-Digest", warc.FormatDigest("sha1", sum),
		"Content-Length", fmt.Sprint(text.Len()),
	), strings.NewReader(text.String()))
}

// printable replaces a control character.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}
