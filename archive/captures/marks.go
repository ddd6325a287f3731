package captures

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/digest"
)

// Mark is a part of a text that a scrubbing rule leaves out, from byte From up to byte To.
type Mark struct {
	From, To int
	Rule     string // the expression or the selector
}

// Marks returns a content as UTF-8, and the parts of it that the expressions and selectors leave out: in order,
// without overlaps. Where two marks overlap, the one that begins first counts. The end of an element that is not
// closed is a guess. The error is [digest.ErrTooSlow], or the cause of ctx; then only the marks of the rules before
// are returned.
func Marks(
	ctx context.Context, rules *digest.Rules, content []byte, contentType string,
) (text []byte, marks []Mark, err error) {
	text = digest.Decode(content, contentType)
	left, spec := original(text), rules.Spec()
	for i, rule := range spec.Regexes {
		matches, err := rules.Matches(ctx, i, left.text)
		if err != nil {
			return text, ordered(marks), err
		}
		var found []Mark
		left, found = left.mark(matches, rule)
		marks = append(marks, found...)
	}
	if digest.IsHTML(contentType) && len(spec.Selectors) > 0 {
		marks = append(marks, markElements(text, spec.Selectors)...)
	}
	return text, ordered(marks), nil
}

// placed is a text whose bytes know where they were in another text.
type placed struct {
	text  []byte
	place []int32 // of each byte
}

func original(text []byte) placed {
	place := make([]int32, len(text))
	for i := range place {
		place[i] = int32(i)
	}
	return placed{text, place}
}

// mark replaces each match of a rule by one space, as scrubbing does, and returns the places of the matches.
func (p placed) mark(matches [][]int, rule string) (left placed, marks []Mark) {
	if len(matches) == 0 {
		return p, nil
	}
	end := 0
	keep := func(to int) {
		left.text, left.place = append(left.text, p.text[end:to]...), append(left.place, p.place[end:to]...)
	}
	for _, m := range matches {
		if m[0] == m[1] {
			continue
		}
		keep(m[0])
		from, to := int(p.place[m[0]]), int(p.place[m[1]-1])+1
		left.text, left.place = append(left.text, ' '), append(left.place, int32(from))
		marks, end = append(marks, Mark{from, to, rule}), m[1]
	}
	keep(len(p.text))
	return left, marks
}

// ordered sorts marks and removes overlaps.
func ordered(marks []Mark) []Mark {
	slices.SortStableFunc(marks, func(a, b Mark) int { return cmp.Compare(a.From, b.From) })
	var out []Mark
	end := 0
	for _, m := range marks {
		if m.From = max(m.From, end); m.From < m.To {
			out, end = append(out, m), m.To
		}
	}
	return out
}

// placeAttribute is added to each tag to find its element in the text again.
const placeAttribute = "arcrawl-place"

// markElements returns the parts of a page that selectors match.
func markElements(page []byte, rules []string) (marks []Mark) {
	tagged, tags := withPlaces(page)
	root, err := html.Parse(bytes.NewReader(tagged))
	if err != nil {
		return nil
	}
	for _, rule := range rules {
		selector, err := digest.ParseSelector(rule)
		if err != nil {
			continue
		}
		for _, n := range selector.In(root) {
			if i := placeOf(n); i < len(tags) {
				marks = append(marks, Mark{tags[i].from, endOf(tags, i, len(page)), rule})
			}
		}
	}
	return marks
}

// placeOf returns the number of the tag of an element. It is too high for an element without a tag.
func placeOf(n *html.Node) int {
	for _, a := range n.Attr {
		if i, err := strconv.Atoi(a.Val); a.Key == placeAttribute && err == nil {
			return i
		}
	}
	return math.MaxInt
}

// tag is a tag of a page.
type tag struct {
	from, to int
	name     string
	closes   bool
	alone    bool // it has no content
}

// withPlaces returns a page with the number of each tag as an attribute, and the tags.
func withPlaces(page []byte) (tagged []byte, tags []tag) {
	z := html.NewTokenizer(bytes.NewReader(page))
	at := 0
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		raw := z.Raw()
		t := tag{from: at, to: at + len(raw), closes: kind == html.EndTagToken, alone: kind == html.SelfClosingTagToken}
		at = t.to
		if kind != html.StartTagToken && !t.closes && !t.alone {
			tagged = append(tagged, raw...)
			continue
		}
		raw = bytes.Clone(raw) // the tokenizer changes it
		name, _ := z.TagName()
		t.name = string(name)
		t.alone = t.alone || slices.Contains(withoutContent, t.name)
		if head := 1 + len(name); !t.closes && len(raw) > head {
			tagged = append(tagged, raw[:head]...)
			tagged = append(tagged, " "+placeAttribute+"="+strconv.Itoa(len(tags))+" "...)
			raw = raw[head:]
		}
		tagged = append(tagged, raw...)
		tags = append(tags, t)
	}
	return append(tagged, page[at:]...), tags
}

// withoutContent are the elements that have only a start tag.
var withoutContent = []string{
	"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
}

// endOf returns the end of the element that begins with a tag. size is the size of the page.
func endOf(tags []tag, i, size int) int {
	if tags[i].alone {
		return tags[i].to
	}
	depth := 0
	for _, t := range tags[i:] {
		switch {
		case t.name != tags[i].name:
		case !t.closes:
			depth++
		default:
			if depth--; depth == 0 {
				return t.to
			}
		}
	}
	return size
}
