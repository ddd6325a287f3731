package house_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainTexts are the documents and web pages that follow the same rules as the code, as patterns of filepath.Match.
var plainTexts = []string{
	"ARCHITECTURE.md",
	"CHANGELOG.md",
	"CONTRIBUTING.md",
	"README.md",
	"admin/dashboard/*.js",
	"curator/dashboard/*.js",
	"admin/dashboard/index.html",
	"docs/*.md",
	"docs/decisions/*.md",
	"scripts/trial/README.md",
}

// maxLine is the longest line, in characters.
const maxLine = 120

// banned is a word or phrase that makes a reader stop, and what to write instead.
type banned struct {
	pattern *regexp.Regexp
	instead string
	except  *regexp.Regexp // a longer phrase around the match that is good English; nil = none
}

func ban(pattern, instead string) banned {
	return banned{pattern: regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`), instead: instead}
}

func (b banned) unless(phrase string) banned {
	b.except = regexp.MustCompile(`(?i)\b(?:` + phrase + `)\b`)
	return b
}

var bannedPhrases = []banned{
	ban(`anew`, "again"),
	ban(`pass(?:es|ed|ing)? over`, "skip"),
	ban(`for ever`, "forever, permanently"),
	ban(`mend(?:s|ed|ing)?`, "fix"),
	ban(`in vain`, "without success"),
	ban(`needful`, "needed"),
	ban(`beside`, "next to, in addition to"),
	ban(`tells|is told|are told|was told|were told|be told|tell whether`, "reports, returns, says, is notified of"),
	ban(`hears? of|heard of|hear of`, "is notified of, receives"),
	ban(`has a say in|have a say in|had a say in`, "affects, applies to"),
	ban(`speaks? for|spoke for`, "applies to"),
	ban(`gives`, "returns").unless(`gives up`),
	ban(`give back|gives back|gave back|given back`, "release, return"),
	ban(`(?:is|are|was|were|be) none`, "is not a …").unless(`there (?:is|are|was|were|be|may be|can be|must be|will be) none`),
	ban(`so many|so much`, "N, the number; or say how much").unless(`so (?:many|much)(?: \w+)? that`),
	ban(`those of|that of`, "name the noun"),
	ban(`goes on|go on|went on|going on|gone on`, "continues, resumes").unless(`what is going on`),
	ban(`but for|all but`, "except"),
	ban(`in the place of`, "instead of"),
	ban(`lies|lay|lain`, "is stored in, is in"),
	ban(`stands?|stood`, "is, appears, is written").
		unless(`stands? (?:alone|still)|standstill|stood still|stand-in|under\s?stand|stands? for`),
	ban(`as good as|of late|for want of|now and then|of no use|is of use`, "plain words"),
	ban(`whence|thither|hither|lest|hitherto|henceforth|therein|thereof|whereof|thereupon|upon|amid|naught|nought`,
		"a word of today"),
	ban(`shall|ought|forthwith|erstwhile|whosoever|whatsoever|albeit`, "a word of today"),
	ban(`hearsay|haste|hurry|hurries|realm|outbid|desk|nap`, "what the thing does").unless(`Basic realm`),
	ban(`comes? to nothing|came to nothing|becomes? of|became of|knows? nothing of|knew nothing of`, "plain words"),
	ban(`by so much|by how much`, "the difference, N, the factor"),
	ban(`\A\w+ (?:is|are) what`, "holds, returns, is the …"),
	ban(`says? nothing of|what is known of|nothing is known of`, "about; name what is known"),
	ban(`stays? as (?:it is|it was|they are|they were)`, "stays unchanged"),
	ban(`takes? in (?:that|what|how)|goes by (?:the|how)`, "adds, records, uses"),
	ban(`keeps? a distance|half as many \w+ again`, "plain numbers"),
}

// anyBanned matches if one of the phrases does. Most texts have none, and one look is faster than fifty.
var anyBanned = func() *regexp.Regexp {
	var all []string
	for _, b := range bannedPhrases {
		all = append(all, b.pattern.String())
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

// bannedNames are parts of identifiers that are private metaphors.
var bannedNames = []string{
	"desk", "seat", "rise", "stir", "haste", "hearsay", "realm", "outbid", "giveback", "givenback", "nap", "hurry",
}

// quoting are files that must name what they forbid.
var quoting = []string{"internal/house/plain_test.go", "internal/house/planted_test.go"}

// plainEnglish finds banned phrases in comments and texts, banned parts of names, and long lines.
func plainEnglish(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if slices.Contains(quoting, f.name) {
			continue
		}
		found = append(found, all.phrases(f)...)
		found = append(found, all.names(f)...)
		found = append(found, all.longLines(f)...)
	}
	return found
}

// phrases looks at each comment, joined to one line, and at each string literal.
func (all tree) phrases(f source) []breach {
	var found []breach
	for _, group := range f.Comments {
		for _, what := range stumbles(group.Text()) {
			found = append(found, all.at(group, "a comment says %s", what))
		}
	}
	tags := map[*ast.BasicLit]bool{} // names in JSON are part of the API
	ast.Inspect(f.File, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			tags[field.Tag] = true
		}
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || tags[lit] {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true // the compiler will say so
		}
		for _, what := range stumbles(text) {
			found = append(found, all.at(lit, "a text says %s", what))
		}
		return true
	})
	return found
}

// outwardNames match names that users write, which stay as they are: of flags, and of fields of answers.
var outwardNames = regexp.MustCompile(`^beside$|--beside`)

// stumbles lists the banned phrases of a text, each with what to write instead.
func stumbles(text string) []string {
	var list []string
	flat := outwardNames.ReplaceAllString(strings.Join(strings.Fields(text), " "), "…")
	if !anyBanned.MatchString(flat) {
		return nil
	}
	for _, b := range bannedPhrases {
		rest := flat
		if b.except != nil {
			rest = b.except.ReplaceAllString(flat, "…")
		}
		if hit := b.pattern.FindString(rest); hit != "" {
			list = append(list, strconv.Quote(hit)+", write instead: "+b.instead)
		}
	}
	return list
}

// names looks at the identifiers that a file declares.
func (all tree) names(f source) []breach {
	var found []breach
	ast.Inspect(f.File, func(n ast.Node) bool {
		var ids []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			ids = []*ast.Ident{n.Name}
		case *ast.TypeSpec:
			ids = []*ast.Ident{n.Name}
		case *ast.ValueSpec:
			ids = n.Names
		case *ast.Field:
			ids = n.Names
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					ids = append(ids, id)
				}
			}
		}
		for _, id := range ids {
			for _, part := range nameParts(id.Name) {
				if slices.Contains(bannedNames, part) {
					found = append(found, all.at(id, "the name %s is a private metaphor (%s)", id.Name, part))
				}
			}
		}
		return true
	})
	return found
}

var nameWord = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// nameParts returns the words of an identifier in lower case, and each two neighbours joined.
func nameParts(name string) []string {
	words := nameWord.FindAllString(name, -1)
	for i := range words {
		words[i] = strings.ToLower(words[i])
	}
	parts := slices.Clone(words)
	for i := 1; i < len(words); i++ {
		parts = append(parts, words[i-1]+words[i])
	}
	return parts
}

// longLines finds lines of more than maxLine characters. A line that holds one long text or an address may be longer,
// and so may a row of a test's table.
func (all tree) longLines(f source) []breach {
	file := all.fset.File(f.Pos())
	lines := strings.Split(f.text, "\n")
	long := map[int]bool{}
	for i, line := range lines {
		comment := strings.HasPrefix(strings.TrimSpace(line), "//")
		code := strings.ContainsAny(line, "\"`")
		if utf8.RuneCountInString(line) > maxLine && !strings.Contains(line, "://") && (comment || !code || !f.test) {
			long[i+1] = true
		}
	}
	ast.Inspect(f.File, func(n ast.Node) bool { // texts cannot be broken, and neither can what is inside one
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			first, last := all.fset.Position(lit.Pos()).Line, all.fset.Position(lit.End()).Line
			for pos := first; pos <= last; pos++ {
				if pos > first || utf8.RuneCountInString(lit.Value) > maxLine/2 {
					delete(long, pos)
				}
			}
		}
		return true
	})
	var found []breach
	for pos := range lines {
		if long[pos+1] {
			what := "a line of " + strconv.Itoa(utf8.RuneCountInString(lines[pos])) + " characters, more than 120"
			found = append(found, breach{pos: token.Position{Filename: file.Name(), Line: pos + 1}, what: what})
		}
	}
	return found
}

// TestTheDocumentsAreInPlainEnglish applies the same rules to documents and web pages. Tables, code and addresses may
// make a line longer.
func TestTheDocumentsAreInPlainEnglish(t *testing.T) {
	t.Parallel()
	for _, pattern := range plainTexts {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("%s names no file: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(t, err)
			checkDocument(t, file, string(text))
		}
	}
}

func checkDocument(t *testing.T, file, text string) {
	t.Helper()
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, what := range stumbles(line) {
			t.Errorf("%s:%d: says %s", file, i+1, what)
		}
		table := strings.HasPrefix(strings.TrimSpace(line), "|")
		if utf8.RuneCountInString(line) > maxLine && filepath.Ext(file) == ".md" && !table && !strings.Contains(line, "](") {
			t.Errorf("%s:%d: has %d characters, more than %d", file, i+1, utf8.RuneCountInString(line), maxLine)
		}
	}
}
