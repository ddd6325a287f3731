package discover

import (
	"bytes"
	"encoding/json"

	"github.com/tdewolff/parse/v2"
	parsejson "github.com/tdewolff/parse/v2/json"

	"github.com/arcrawl/arcrawl/uri"
)

// maxNesting is how deep the objects and lists of a JSON-LD block may be nested. Reading stops where a block is deeper.
// Honest blocks have about ten levels.
const maxNesting = 64

// maxDated is the maximum depth of an object whose date of publication is the date of the page. Deeper objects are
// comments and lists of other pages. An object in the block's graph is as deep as an object of a block that is a list.
// A list in a list is as deep as the outer list.
const maxDated = 3

// maxProperty is the maximum length of the name of a property, in bytes.
const maxProperty = 64

// role is the meaning of a JSON-LD property.
type role int

const (
	roleless   role = iota
	address         // the address of the thing that the object describes
	identity        // the name of the thing, which may be an address
	ofPage          // a page: its address, or an object that describes it
	ofMedia         // an image, film or sound: its address, or an object that describes it
	vocabulary      // the terms of the block itself, without references
	firstDate       // when the thing was published
	graph           // the things that the block describes, in a list
	literal         // the text of a value that has a type
)

// properties are the properties of schema.org with a role, in lower case.
var properties = byName(map[role]string{
	vocabulary: `@context`,
	graph:      `@graph`,
	identity:   `@id`,
	literal:    `@value`,
	ofPage: `
		archivedat associatedmedia audio discussionurl downloadurl item mainentityofpage relatedlink significantlink
		video
	`,
	ofMedia:   `contenturl embedurl image logo photo primaryimageofpage screenshot thumbnail thumbnailurl`,
	firstDate: `datepublished`,
	address:   `url`,
})

// level is an object or list that the reader is in.
type level struct {
	within role // role of the property whose value the innermost object is
	next   role // role of the next value
	depth  int
	list   bool
}

// dates reports whether the next string is the date of publication of the page.
func (l level) dates() bool {
	return l.depth <= maxDated && (l.next == firstDate || l.next == literal && l.within == firstDate)
}

// jsonLD adds the references of a JSON-LD block. It reads as far as the block is valid JSON, except that trailing
// commas and line ends in strings are allowed.
func (p *page) jsonLD(text []byte) {
	input := parse.NewInputBytes(unwrap(text))
	defer input.Restore() // as in css
	parser := parsejson.NewParser(input)
	levels := make([]level, 1, 16)
	levels[0].depth = 1
	for {
		key := parser.State() == parsejson.ObjectKeyState
		kind, token := parser.Next()
		here := &levels[len(levels)-1]
		switch kind {
		case parsejson.ErrorGrammar:
			return
		case parsejson.StringGrammar:
			switch {
			case key:
				here.next = roleOf(token)
			case here.dates():
				p.published([]byte("datepublished"), bytes.Trim(token, `"`))
			default:
				p.jsonLDValue(*here, token)
			}
		case parsejson.StartObjectGrammar, parsejson.StartArrayGrammar:
			if here.next == vocabulary && skipValue(parser) {
				continue
			}
			if here.next == vocabulary || len(levels) > maxNesting {
				return
			}
			levels = append(levels, here.inner(kind == parsejson.StartObjectGrammar))
		case parsejson.EndObjectGrammar, parsejson.EndArrayGrammar:
			levels = levels[:len(levels)-1]
		}
	}
}

// inner returns the level of an object or list that begins at l.
func (l level) inner(object bool) level {
	depth := l.depth + 1
	switch inGraph := l.next == graph && l.depth <= maxDated; {
	case inGraph && object:
		depth = maxDated
	case inGraph:
		depth = maxDated - 1
	case l.next == firstDate, !object && l.list:
		depth = l.depth
	}
	if object {
		return level{within: l.next, depth: depth}
	}
	return level{within: l.within, next: l.next, depth: depth, list: true}
}

// skipValue reads to the end of the object or list that has just begun. It returns false if there is no end.
func skipValue(parser *parsejson.Parser) bool {
	for depth := 1; depth > 0; {
		switch kind, _ := parser.Next(); kind {
		case parsejson.ErrorGrammar:
			return false
		case parsejson.StartObjectGrammar, parsejson.StartArrayGrammar:
			if depth++; depth > maxNesting {
				return false
			}
		case parsejson.EndObjectGrammar, parsejson.EndArrayGrammar:
			depth--
		}
	}
	return true
}

// unwrap removes the comment or CDATA section in which some pages hide their scripts from old browsers.
func unwrap(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] == '{' || text[0] == '[' {
		return text
	}
	for _, opening := range []string{"<![CDATA[", "<!--"} {
		if i := bytes.Index(text[:min(len(text), 32)], []byte(opening)); i >= 0 {
			text = text[i+len(opening):]
		}
	}
	if start := bytes.IndexAny(text[:min(len(text), 32)], "{["); start >= 0 {
		return text[start:]
	}
	return text
}

// roleOf returns the role of a property. The property may have a prefix that names its vocabulary.
func roleOf(key []byte) role {
	if len(key) > maxProperty {
		return roleless
	}
	key = bytes.Trim(key, `"`)
	if i := bytes.LastIndexAny(key, ":/#"); i >= 0 {
		key = key[i+1:]
	}
	return properties[string(bytes.ToLower(key))]
}

// jsonLDValue adds a string of a JSON-LD block, if it is a reference at its level.
func (p *page) jsonLDValue(at level, token []byte) {
	hop := uri.Link
	switch at.next {
	case address:
		if at.within == ofMedia {
			hop = uri.Embed
		}
	case ofMedia:
		hop = uri.Embed
	case identity:
		// A name with a fragment is the name of a thing in a page, such as "/article#author", and not a reference.
		if at.within != ofPage && at.within != ofMedia ||
			!bytes.HasPrefix(token, []byte(`"http`)) || bytes.IndexByte(token, '#') >= 0 {
			return
		}
		if at.within == ofMedia {
			hop = uri.Embed
		}
	case ofPage:
	default:
		return
	}
	if ref, ok := unescapeJSON(token); ok && plausible(ref) {
		p.reference(ref, hop)
	}
}

// unescapeJSON returns the text of a JSON string. It returns false if the text cannot be a reference.
func unescapeJSON(token []byte) ([]byte, bool) {
	const maxEscape = 6 // bytes of one escape
	if len(token) < 2 || len(token) > maxEscape*uri.MaxLength {
		return nil, false
	}
	if bytes.IndexByte(token, '\\') < 0 {
		return token[1 : len(token)-1], true
	}
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		return nil, false
	}
	return []byte(s), true
}
