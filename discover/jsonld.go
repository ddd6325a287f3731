package discover

import (
	"bytes"
	"encoding/json"

	"github.com/tdewolff/parse/v2"
	parsejson "github.com/tdewolff/parse/v2/json"

	"github.com/arcrawl/arcrawl/uri"
)

// maxNesting is how deep the objects and lists of a JSON-LD block may stand in each other; one that goes deeper is read
// no further. Honest ones go to ten or so.
const maxNesting = 64

// maxDated is how deep an object may stand whose date of publication is that of the page: deeper are comments and lists of
// others. The things of a block's graph stand as deep as those of a block that is a list. A list in a list is no deeper than that.
const maxDated = 3

// maxProperty is the longest name of a property, in bytes, that is looked up.
const maxProperty = 64

// role is what the value of a JSON-LD property says.
type role int

const (
	roleless   role = iota
	address         // where the thing is at that the object describes
	identity        // its name, which may be an address
	ofPage          // a page: its address, or an object that describes it
	ofMedia         // something that is shown: likewise
	vocabulary      // the terms of the block itself, nothing in it is a reference
	firstDate       // when the thing was published
	graph           // the things that the block describes, beside each other
	literal         // the text of a value that says its type too
)

// properties are those of schema.org that lead somewhere, in lower case.
var properties = map[string]role{
	"@context":           vocabulary,
	"@graph":             graph,
	"@id":                identity,
	"@value":             literal,
	"archivedat":         ofPage,
	"associatedmedia":    ofPage,
	"audio":              ofPage,
	"contenturl":         ofMedia,
	"datepublished":      firstDate,
	"discussionurl":      ofPage,
	"downloadurl":        ofPage,
	"embedurl":           ofMedia,
	"image":              ofMedia,
	"item":               ofPage,
	"logo":               ofMedia,
	"mainentityofpage":   ofPage,
	"photo":              ofMedia,
	"primaryimageofpage": ofMedia,
	"relatedlink":        ofPage,
	"screenshot":         ofMedia,
	"significantlink":    ofPage,
	"thumbnail":          ofMedia,
	"thumbnailurl":       ofMedia,
	"url":                address,
	"video":              ofPage,
}

// level is an object or list that the reader is in.
type level struct {
	within role // of the property that the innermost object is the value of
	next   role // of the value that comes next
	depth  int  // how deep it stands
	list   bool
}

// dates reports whether the string that comes next is when the page was published.
func (l level) dates() bool {
	return l.depth <= maxDated && (l.next == firstDate || l.next == literal && l.within == firstDate)
}

// data adds what a JSON-LD block names. It reads as far as the block is JSON; trailing commas and line ends in strings
// are forgiven.
func (p *page) data(text []byte) {
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
				p.datum(*here, token)
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

// inner is the object or list that begins at a level.
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

// skipValue reads to the end of the object or list that has just begun; false if there is none.
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

// unwrap strips the comment or CDATA section in which some pages hide their scripts from old readers.
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

// roleOf is the role of a property, which may have the name of its vocabulary in front.
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

// datum adds a string that stands at a place of a JSON-LD block.
func (p *page) datum(at level, token []byte) {
	hop := uri.Link
	switch at.next {
	case address:
		if at.within == ofMedia {
			hop = uri.Embed
		}
	case ofMedia:
		hop = uri.Embed
	case identity:
		// A name with a fragment is that of a thing in a page, "/article#author", and leads nowhere else.
		if at.within != ofPage && at.within != ofMedia || !bytes.HasPrefix(token, []byte(`"http`)) || bytes.IndexByte(token, '#') >= 0 {
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

// unescapeJSON gives what a JSON string says, if that can be a reference.
func unescapeJSON(token []byte) ([]byte, bool) {
	const longestEscape = 6
	if len(token) < 2 || len(token) > longestEscape*uri.MaxLength {
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
