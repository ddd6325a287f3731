package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// explanation translates the message of a parser for readers who do not write parsers.
type explanation struct{ message, problem, remedy string }

// seeSyntax is the remedy where no explanation matches.
const seeSyntax = "see https://toml.io for the syntax"

// explanations are tried in order. The first one whose message is part of the parser's message applies.
var explanations = []explanation{
	{"more than the maximum", "is nested too deeply", tooDeep},
	{
		"strings must be quoted", "the value has no quotes around it",
		"write quotes around everything except numbers, true and false",
	},
	{"basic strings cannot have new lines", "the closing quote is missing on this line", `end the text with "`},
	{"literal strings cannot have new lines", "the closing quote is missing on this line", "end the text with '"},
	{"unterminated basic string", "the closing quote is missing", `end the text with "`},
	{"unterminated literal string", "the closing quote is missing", "end the text with '"},
	{"multiline", "the closing quotes are missing", "end the text with the three quotes that it begins with"},
	{
		"invalid escape", `a backslash in "…" begins an escape sequence, and this one is invalid`, `put the text in single quotes, where a backslash is an ordinary character, or write \\`,
	},
	{"control characters", "the text contains a control character", `remove it, or write an escape such as \t`},
	{"table name", "the table name has no end", `close it with as many ] as it has [ before`},
	{"expected '=' after key", "there is no = after the key", "write key = value"},
	{"but reached end of input", "the file ends in the middle of a key", "write key = value"},
	{"array is incomplete", "the list has no end", "close it with ]"},
	{"after array value", "the list has no comma here, or no end", "put a comma between values, and ] after the last"},
	{"inline table is incomplete", "the inline table has no end", "close it with }"},
	{"comma in inline table", "there is one comma too many", "remove it"},
	{
		"after inline table", "the inline table has no comma here, or no end",
		"put a comma between its keys, and } after the last",
	},
	{
		"expected newline but got", "the line continues after the value",
		"write one key or table per line; a comment begins with #",
	},
	{"expected value but got U+002C", "there is one comma too many", "remove it"},
	{"not end of input", "the value is missing", "write key = value"},
	{"expected keyword", "the value is unknown", "write true, false, a number, or a text in quotes"},
	{"between underscores", "the number has an underscore without digits around it", "write 1000 or 1_000"},
	{"leading zero", "the number begins with a zero", "remove the zero"},
	{"invalid datetime", "there is no such date", "write texts in quotes"},
	{"out of range", "the number is too large", "write a smaller number"},
}

var (
	wordAhead   = regexp.MustCompile(`^[^\s,#\]}]+`)
	definedName = regexp.MustCompile(`Key '([^']*)'`)
)

// syntax explains a message of the first pass.
func (d *Document) syntax(text []byte, offset int, message string) Fault {
	ahead := text[offset:]
	if line := strings.IndexByte(string(ahead), '\n'); line >= 0 {
		ahead = ahead[:line]
	}
	problem, remedy := "is not TOML: "+message, seeSyntax
	for _, e := range explanations {
		if strings.Contains(message, e.message) {
			problem, remedy = e.problem, e.remedy
			break
		}
	}
	switch {
	case strings.Contains(message, "start of value"):
		problem, remedy = missingValue(string(ahead))
	case strings.Contains(message, "start of key"):
		problem, remedy = missingKey(string(ahead))
	case strings.Contains(message, "after key") && strings.HasPrefix(string(ahead), ":"):
		problem, remedy = "there is a colon after the key", "write = instead"
	case strings.Contains(message, "after key") && len(ahead) > 0 && ahead[0] >= utf8.RuneSelf:
		problem, remedy = missingKey(string(ahead))
	}
	return d.at(offset, Fault{Problem: problem, Remedy: remedy})
}

func missingValue(ahead string) (problem, remedy string) {
	word := strings.TrimSpace(wordAhead.FindString(ahead))
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case word == "":
		return "the value is missing", "write key = value"
	case strings.ContainsRune("“”„«»‘’‚", first):
		return "the quotes are typographic", `use straight ones, " or '`
	case strings.EqualFold(word, "true") || strings.EqualFold(word, "yes") || strings.EqualFold(word, "on"):
		return strconv.Quote(word) + " is not a value", "write true"
	case strings.EqualFold(word, "false") || strings.EqualFold(word, "no") || strings.EqualFold(word, "off"):
		return strconv.Quote(word) + " is not a value", "write false"
	}
	return "the value has no quotes around it", "write " + Clip(strconv.Quote(word))
}

func missingKey(ahead string) (problem, remedy string) {
	first, _ := utf8.DecodeRuneInString(ahead)
	switch first {
	case '=':
		return "there is no key before the =", "write key = value"
	case '/', ';', '-', '!', '%':
		return fmt.Sprintf("a line cannot begin with %q", first), "a comment begins with #"
	case ']':
		return "the table has no name", "write one between the brackets"
	case '<':
		return "a line cannot begin with '<'", "this seems to be HTML or XML, not TOML"
	case '{', '}':
		return fmt.Sprintf("a line cannot begin with %q", first), "this seems to be JSON, not TOML"
	}
	return fmt.Sprintf("a key cannot contain %q", first), "keys are made of a-z and _"
}

// semantic explains an error of the decoder in a file whose syntax is correct.
func (d *Document) semantic(err error) Fault {
	var bad toml.ParseError
	if !errors.As(err, &bad) {
		return Fault{Problem: "is not TOML: " + err.Error(), Remedy: seeSyntax}
	}
	if m := definedName.FindStringSubmatch(bad.Message); m != nil {
		problem := "is used in two ways"
		if p, ok := d.positions[Path("").Key(m[1])]; ok {
			problem += fmt.Sprintf(", first on line %d", d.at(p.key, Fault{}).Line)
		}
		return d.at(bad.Position.Start, Fault{
			Key: Clip(m[1]), Problem: problem, Remedy: "a name is either a key, a [table] or a [[list of tables]]",
		})
	}
	for _, e := range explanations {
		if strings.Contains(bad.Message, e.message) {
			return d.at(bad.Position.Start, Fault{Problem: e.problem, Remedy: e.remedy})
		}
	}
	return d.at(bad.Position.Start, Fault{Problem: "is not TOML: " + bad.Message, Remedy: seeSyntax})
}
