package captures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/digest"
)

// What is compared.
const (
	Text    = "text"
	Source  = "source"
	Headers = "headers"
	Picture = "picture"
)

// Kinds returns what can be compared.
func Kinds() []string { return []string{Text, Source, Headers} }

// The bounds of a comparison.
const (
	maxBytes = 4 << 20 // of each version
	maxRows  = 2000    // that are shown
	around   = 3       // unchanged lines around a difference
	fewest   = 3       // unchanged lines that are folded
)

// version is one of the two versions.
type version struct {
	mime    string // Content-Type, with its parameters
	head    string
	content []byte
	cut     bool // the content is longer
}

// Compare compares two captures. spec has the scrubbing rules of the host. A capture that cannot be read, or is no
// text, is a problem in the answer.
func Compare(
	ctx context.Context, l *Library, before, after index.Entry, what string, spec digest.Spec,
) (Comparison, error) {
	rules, err := digest.Compile(spec)
	if err != nil {
		return Comparison{}, err
	}
	p, problem, err := Read(ctx, l, before, after)
	if err != nil || problem != "" {
		return Comparison{What: what, Rows: []CompareRow{}, Problem: problem}, err
	}
	return p.Compare(ctx, what, rules)
}

// Pair holds two versions that are compared.
type Pair struct {
	entries [2]index.Entry
	both    [2]version
}

// Read reads two captures. If one of them cannot be read, problem says why, for people.
func Read(ctx context.Context, l *Library, before, after index.Entry) (p Pair, problem string, err error) {
	p.entries = [2]index.Entry{before, after}
	for i, e := range p.entries {
		v, err := read(ctx, l, e, maxBytes)
		if ctx.Err() != nil {
			return p, "", context.Cause(ctx)
		}
		if err != nil {
			return p, fmt.Sprintf("The version of %s cannot be compared. %s", e.Date().Format(time.DateTime),
				Sentence(err)), nil
		}
		p.both[i] = v
	}
	return p, "", nil
}

// Contents returns the contents of both versions and the Content-Type of the second.
func (p Pair) Contents() (before, after []byte, contentType string) {
	return p.both[0].content, p.both[1].content, p.both[1].mime
}

// Compare compares both versions. rules are scrubbing rules.
func (p Pair) Compare(ctx context.Context, what string, rules *digest.Rules) (Comparison, error) {
	out := Comparison{What: what, Rows: []CompareRow{}}
	both, c := p.both, comparison{out: &out, numbers: map[string]int{}}
	switch {
	case what == Headers:
		c.compare(sourceLines([]byte(both[0].head), nil), sourceLines([]byte(both[1].head), nil))
		return out, nil
	case isPicture(both[0]) && isPicture(both[1]):
		out.What = Picture
		if !bytes.Equal(both[0].content, both[1].content) {
			out.Changed = 1
		}
		return out, nil
	}
	for i, e := range p.entries {
		if !isTextual(both[i]) {
			says := "The version of %s is no text: its media type is %q. Its response header can be compared."
			if namesText(both[i]) {
				says = "The version of %s has bytes that no text has, though its media type is %q. " +
					"Its response header can be compared."
			}
			out.Problem = fmt.Sprintf(
				says,
				e.Date().Format(time.DateTime), digest.MediaType(both[i].mime))
			return out, nil
		}
	}
	left, right := c.lines(ctx, both[0], what, rules), c.lines(ctx, both[1], what, rules)
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	c.compare(left, right)
	return out, nil
}

// read reads a capture, at most the given number of bytes of it. The head is the one of its own record.
func read(ctx context.Context, l *Library, e index.Entry, most int64) (v version, err error) {
	c, fields, err := l.At(e.URL, e.Filename, e.Offset)
	if err != nil {
		return v, err
	}
	p, err := l.Payload(ctx, c, true)
	if err != nil {
		return v, err
	}
	v.content, err = io.ReadAll(io.LimitReader(p, most+1))
	if err = errors.Join(err, p.Close()); err != nil {
		return v, err
	}
	if v.cut = int64(len(v.content)) > most; v.cut {
		v.content = v.content[:most]
	}
	v.mime = p.Head.Header().Get("Content-Type")
	var lines []string
	for name, values := range fields {
		for _, value := range values {
			lines = append(lines, name+": "+value+"\n")
		}
	}
	slices.Sort(lines) // servers change the order
	v.head = "Status: " + e.Status + "\n" + strings.Join(lines, "")
	return v, nil
}

// isTextual reports whether a version can be compared line by line.
func isTextual(v version) bool {
	return namesText(v) && !isBinary(v.content[:min(len(v.content), 1024)]) ||
		strings.Contains(v.mime, "charset=utf-16") || strings.Contains(v.mime, "charset=UTF-16")
}

// namesText reports whether the media type of a version is a text, or is missing.
func namesText(v version) bool {
	mime := digest.MediaType(v.mime)
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "xml") || strings.HasSuffix(mime, "json") ||
		strings.HasSuffix(mime, "javascript") || mime == ""
}

// isBinary reports whether a page begins like a picture, or has many bytes that no text has. Pages with a few of them
// exist, and browsers show them.
func isBinary(begin []byte) bool {
	odd := 0
	for _, b := range begin { // in UTF-8 all of them are single bytes
		if b < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", rune(b)) {
			odd++
		}
	}
	return odd > max(8, len(begin)/50) || PictureType(begin) != "" && odd > 0
}

// isPicture reports whether a browser can show a version as a picture, by its first bytes.
func isPicture(v version) bool { return PictureType(v.content) != "" && !isTextual(v) }

// comparison makes the rows of an answer.
type comparison struct {
	out     *Comparison
	numbers map[string]int // of the rules
}

// note adds a sentence once.
func (c *comparison) note(text string) {
	if !slices.Contains(c.out.Notes, text) {
		c.out.Notes = append(c.out.Notes, text)
	}
}

func (c *comparison) lines(ctx context.Context, v version, what string, rules *digest.Rules) []line {
	if v.cut {
		c.note(fmt.Sprintf("Only the first %d MB of each version are compared.", maxBytes>>20))
	}
	text, marks, err := Marks(ctx, rules, v.content, v.mime)
	if err != nil {
		c.note("The scrubbing rules take too long on this page, and not all of their parts are marked.")
	}
	c.out.Hidden += len(marks)
	var lines []line
	if what == Text && digest.IsHTML(v.mime) {
		lines = readerLines(text, marks)
	} else {
		lines = sourceLines(text, marks)
	}
	if len(lines) == maxLines {
		c.note("Only the first 100,000 lines of each version are compared.")
	}
	return lines
}

func (c *comparison) part(s span, differs bool) ComparePart {
	p := ComparePart{Text: Harmless(s.text), Differs: differs && s.rule == ""}
	if s.rule != "" {
		if c.numbers[s.rule] == 0 {
			c.out.Rules = append(c.out.Rules, s.rule)
			c.numbers[s.rule] = len(c.out.Rules)
		}
		p.Rule = c.numbers[s.rule]
	}
	return p
}

// ErrNoPicture says that a capture is not a picture that is shown.
var ErrNoPicture = errors.New("the payload is not a picture, or larger than 32 MB")

// MaxPicture is the maximum size of a picture that is shown, in bytes. Pictures of long pages have some 10 MB.
const MaxPicture = 32 << 20

// PictureType returns the media type of a picture that browsers show and that cannot contain scripts, by its first
// bytes. It is "" for everything else, such as SVG.
func PictureType(content []byte) string {
	mime := http.DetectContentType(content)
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}, mime) {
		return mime
	}
	return ""
}

// ReadPicture returns the picture of a capture and its media type.
func ReadPicture(ctx context.Context, l *Library, e index.Entry) (content []byte, mime string, err error) {
	v, err := read(ctx, l, e, MaxPicture)
	if err != nil {
		return nil, "", err
	}
	if mime = PictureType(v.content); mime == "" || v.cut {
		return nil, "", ErrNoPicture
	}
	return v.content, mime, nil
}

// ReadContent returns the content of a capture, at most 4 MB of it, and its Content-Type.
func ReadContent(
	ctx context.Context, l *Library, e Entry,
) (content []byte, contentType string, err error) {
	v, err := read(ctx, l, e, maxBytes)
	return v.content, v.mime, err
}
