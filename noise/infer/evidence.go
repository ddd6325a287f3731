package infer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	nethtml "golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/digest"
)

// The bounds of what a rule may remove.
const (
	labelWords = 6 // of text that stays the same and that a selector may remove anywhere, such as "Visitors today"
	freeWords  = 2 // that an expression may remove where they differ and are not shown
)

// dateWords matches the words of dates and times in the languages whose names for them are known here.
var dateWords = digest.Expression(`(?i)^(?:` +
	`jan(?:uary|uar|vier|eiro)?|feb(?:ruary|ruar)?|f[ée]v(?:rier|ereiro)?|mar(?:ch|s|zo|ço|et)?|märz|maart|apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|` +
	`ma[iyj]|maio|mayo|maggio|june?|juni|juin|junho|junio|giugno|july?|juli|juil(?:let)?|julho|julio|luglio|aug(?:ust|ustus)?|août|agosto|ago|` +
	`sep(?:t|tember|tembre|tiembre)?|set(?:embro|tembre)?|o[ck]t(?:ober|obre|ubre)?|outubro|nov(?:ember|embre|iembre|embro)?|de[cz](?:ember)?|déc(?:embre)?|dic(?:iembre|embre)?|dezembro|` +
	`(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?|` +
	`(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|` +
	`(?:man|tirs|ons|tors|fre|lør|søn|mån|tis|lör|sön)dag|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|` +
	`am|pm|utc|gmt|ces?t|mes?z|[ecmp][sd]t|uhr|kl|th|st|nd|rd)$`)

// token matches the runs of letters and digits of a text.
var token = regexp.MustCompile(`[\pL\pM\pN_]+`)

// tokenHere matches such a run at the beginning of a text.
var tokenHere = regexp.MustCompile(`^` + token.String())

// words returns the number of words of natural language in a text.
func words(text string) int { return len(wordsOf(text)) }

// wordsOf returns the words of natural language in a text. Numbers, the words of dates, and tokens that a program made
// are no words.
func wordsOf(text string) []string {
	var all []string
	for _, w := range token.FindAllString(text, -1) {
		if word(w) {
			all = append(all, w)
		}
		for _, r := range w {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
				all = append(all, string(r)) // these scripts have no spaces
			}
		}
	}
	return all
}

// word reports whether a run of letters and digits looks like a word.
func word(w string) bool {
	runes := []rune(w)
	if len(runes) < 3 || dateWords().MatchString(w) {
		return false
	}
	upper := 0
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			return false
		case i > 0 && unicode.IsUpper(r):
			upper++
		}
	}
	return upper == 0 || upper == len(runes)-1
}

// piece is a run of a text that differs between the versions, with the text around it that is always the same.
type piece struct {
	prefix, suffix string
	parts          []string // one for each version
}

// varying returns the part of each value that differs. It begins and ends between words, and contains a whole date if
// a part of it differs.
func varying(values []string) piece {
	prefix, suffix := around(values)
	inside := func(r rune) bool { return alphanumeric(r) || unicode.IsMark(r) || r == '_' }
	prefix, suffix = strings.TrimRightFunc(prefix, inside), strings.TrimLeftFunc(suffix, inside)
	p := piece{prefix: prefix, suffix: suffix}
	for _, v := range values {
		p.parts = append(p.parts, v[len(prefix):len(v)-len(suffix)])
	}
	return p.wholeDate()
}

// wholeDate moves the numbers and words of a date from the text around a piece into the piece.
func (p piece) wholeDate() piece {
	before, after := dateBefore().FindString(p.prefix), dateAfter().FindString(p.suffix)
	if !dateLike().MatchString(before) {
		before = ""
	}
	if !dateLike().MatchString(after) {
		after = ""
	}
	p.prefix, p.suffix = p.prefix[:len(p.prefix)-len(before)], p.suffix[len(after):]
	p.parts = each(p.parts, func(v string) string { return before + v + after })
	return p
}

// unit matches a number, a word, or what is between them.
var unit = regexp.MustCompile(`[0-9]+(?:[.,:/-][0-9]+)*|[\pL\pM_][\pL\pM\pN_]*|[^\pL\pM\pN_]+|.`)

// pieces splits a text into the runs that differ. It returns one run if the versions have different numbers of words.
func pieces(values []string) []piece {
	units := each(values, func(v string) []string { return unit.FindAllString(v, -1) })
	newest := units[len(units)-1]
	differs := make([]bool, len(newest))
	for _, u := range units {
		if len(u) != len(newest) {
			return []piece{varying(values)}
		}
		for i := range u {
			differs[i] = differs[i] || u[i] != newest[i]
		}
	}
	text, at := values[len(values)-1], make([]int, 1, len(newest)+1) // where each unit begins
	for _, u := range newest {
		at = append(at, at[len(at)-1]+len(u))
	}
	var all []piece
	stable := 0 // the first unit after the last piece
	for i := 0; i < len(newest); i++ {
		if !differs[i] {
			continue
		}
		end := i
		for j := i; j < len(newest) && (differs[j] || words(newest[j]) == 0); j++ {
			if differs[j] {
				end = j
			}
		}
		next := end + 1
		for next < len(newest) && !differs[next] {
			next++
		}
		all = append(all, piece{
			prefix: text[at[stable]:at[i]], suffix: text[at[end+1]:at[next]],
			parts: each(units, func(u []string) string { return strings.Join(u[i:end+1], "") }),
		})
		stable, i = end+1, end
	}
	// Expressions are applied one after the other, so the text between two pieces is shared out.
	for i := range all[1:] {
		between := all[i].suffix
		cut := strings.LastIndexByte(between[:len(between)/2], ' ') + 1
		all[i].suffix, all[i+1].prefix = between[:cut], between[cut:]
	}
	return each(all, piece.wholeDate)
}

// dateBefore and dateAfter match the numbers and the words of dates at the end and at the beginning of a text.
var (
	dateLike   = digest.Expression(`[0-9][./-][0-9]{1,2}[./-]|[0-9]:|:[0-9]|` + dateWord)
	dateBefore = digest.Expression(`(?:(?:[0-9]+|` + dateWord + `)[\s.,:/+-]*|[0-9]+T)+$`)
	dateAfter  = digest.Expression(`^(?:[\s.,:/+-]*(?:[0-9]+|` + dateWord + `)\b|T[0-9]+)+`)
)

// dateWord matches the usual words of dates inside an expression.
const dateWord = `\b(?i:jan[a-z]*|feb[a-z]*|märz|mar(?:ch|s)?|apr(?:il)?|may|mai|june?|juni|juin|july?|juli|juillet|aug(?:ust)?|août|sept?(?:ember|embre)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|de[cz](?:ember)?|` +
	`(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|utc|gmt|uhr)`

// machine reports whether a part that differs at every visit is noise, although nothing proves it within one moment: a
// time of day, the date of the visit, or a token that a reader does not see.
func (s *suggester) machine(p *spot) bool {
	if p.whole {
		return false
	}
	for _, piece := range pieces(p.values) {
		for i, v := range piece.parts {
			if words(v) > 0 || !clock(v, s.dates[i]) && !hidden(p, v) {
				return false
			}
		}
	}
	link := slices.Contains([]string{"href", "src", "srcset", "poster", "action", "data"}, p.attr)
	return !link || session(p)
}

var (
	seconds   = regexp.MustCompile(`\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?`)
	minutes   = regexp.MustCompile(`\b[0-9]{1,2}[:.][0-9]{2}\b`)
	isoTime   = regexp.MustCompile(`([0-9])T([0-9][0-9:.]*)Z?`)
	digitRuns = regexp.MustCompile(`[0-9]+`)
)

// clock reports whether a text is a time with seconds, a day of the week, or the date at which the version was fetched,
// give or take a day.
func clock(v string, fetched time.Time) bool {
	v = isoTime.ReplaceAllString(v, "$1 $2 ")
	tokens := token.FindAllString(v, -1)
	for _, w := range tokens {
		if _, err := strconv.Atoi(w); err != nil && !dateWords().MatchString(w) {
			return false
		}
	}
	if seconds.MatchString(v) {
		return true
	}
	numbers := digitRuns.FindAllString(v, -1)
	if len(numbers) > 3 {
		v = minutes.ReplaceAllString(v, "")
		numbers, tokens = digitRuns.FindAllString(v, -1), token.FindAllString(v, -1)
	}
	if len(tokens) < 2 || len(numbers) == 0 || len(numbers) > 3 {
		return len(numbers) == 0 && len(tokens) > 0
	}
	for day := -1; day <= 1; day++ {
		d := fetched.UTC().AddDate(0, 0, day)
		if sameDay(numbers, d) {
			return true
		}
	}
	return false
}

// sameDay reports whether numbers are the day of d, and perhaps its month and year.
func sameDay(numbers []string, d time.Time) bool {
	want, day := []int{d.Day(), int(d.Month()), d.Year(), d.Year() % 100}, false
	for _, n := range numbers {
		i, err := strconv.Atoi(n)
		if err != nil || !slices.Contains(want, i) {
			return false
		}
		day = day || i == d.Day()
	}
	return day
}

// hidden reports whether a text is made by a program and not shown: a token in an attribute, a script or a comment, or
// a number in a comment.
func hidden(p *spot, v string) bool {
	comment := p.node.Type == nethtml.CommentNode
	return !p.shown() && (comment || digest.IsToken(v))
}

// shown reports whether a reader sees the part.
func (p *spot) shown() bool {
	if p.attr != "" {
		return slices.Contains([]string{"alt", "title", "placeholder", "aria-label", "label", "summary"}, p.attr)
	}
	return p.node.Type != nethtml.CommentNode && !digest.Invisible(p.node.DataAtom)
}

// session reports whether the part of a link that differs is the session of the visitor: a parameter whose name says
// so.
func session(p *spot) bool {
	link := varying(p.values)
	name := strings.ToLower(parameter.FindString(link.prefix))
	other := func(v string) bool { return !digest.IsToken(v) }
	return digest.IsSession(name) && !slices.ContainsFunc(link.parts, other)
}

// parameter matches the name of a query parameter, up to its value, such as a session id.
var parameter = regexp.MustCompile(`[;?&][A-Za-z_][A-Za-z0-9_.-]*=$`)

// refuses reports whether a rule that removes the elements of a selector would remove an edit or main content in any
// version. Words that differ are content. side says that words may be removed outside the main content.
func (s *suggester) refuses(selector string, side bool) bool {
	parsed, err := digest.ParseSelector(selector)
	if selector == "" || err != nil {
		return true
	}
	var text []string // words that the selector removes from each version
	aside := true     // in every version
	for _, root := range s.roots {
		matched := parsed.In(root)
		if len(matched) > 1 {
			return true
		}
		for _, n := range matched {
			if s.hasEdit[n] || fixed(n) || slices.ContainsFunc(slices.Collect(n.Descendants()), headline) {
				return true
			}
			removed := wordsOf(shown(n))
			text = append(text, strings.Join(removed, " "))
			aside = aside && atSide(n) && 2*len(removed) <= words(shown(root))
			if len(removed) > labelWords && !(side && aside) {
				return true
			}
		}
	}
	return len(slices.Compact(text)) > 1 && !(side && aside)
}

// shown returns the visible text of an element.
func shown(n *nethtml.Node) string { return string(digest.Visible([]byte(rendered(n)))) }

// headline reports whether an element is a headline or the main content of a page.
func headline(n *nethtml.Node) bool {
	return n.Type == nethtml.ElementNode && slices.Contains([]string{"h1", "h2", "main", "article"}, n.Data)
}

// atSide reports whether an element is not part of the main content by its place or by the name that its authors gave
// it.
func atSide(n *nethtml.Node) bool {
	region, article := false, false
	for ; n != nil; n = n.Parent {
		if n.Type != nethtml.ElementNode {
			continue
		}
		name := strings.ToLower(attribute(n, "class") + " " + attribute(n, "id"))
		if sideName.MatchString(strings.NewReplacer("-", " ", "_", " ").Replace(name)) {
			return true
		}
		region = region || slices.Contains([]string{"aside", "nav", "footer"}, n.Data)
		article = article || n.Data == "article"
		if n.Data == "main" && !region {
			return false
		}
	}
	return region && !article
}

var sideName = regexp.MustCompile(`\b(?:ads?|adslot|adverts?|advertisement|banner|sponsor(?:ed)?|related|recommend(?:ed|ations?)|popular|` +
	`most ?(?:read|viewed)|sidebar|breadcrumbs?)\b`)

// fixed reports whether an element holds the main content of a page, so that no rule may leave it out.
func fixed(n *nethtml.Node) bool {
	main := []string{"html", "head", "body", "main", "article", "form", "table", "tbody", "h1", "h2", "title"}
	return n.Type != nethtml.ElementNode || slices.Contains(main, n.Data) || attribute(n, "role") == "main"
}
