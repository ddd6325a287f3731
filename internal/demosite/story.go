package demosite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// stock is the number of articles when the site begins.
const stock = 12

// headlines is the rhythm in which articles appear.
var headlines = rhythm{every: 20 * time.Second, wobble: 7 * time.Second, salt: 1}

// story is one article after some of its corrections. Its text depends only on number and corrections.
type story struct {
	number      int
	corrections int
	published   time.Time
	edited      time.Time // when it was published, or last corrected
}

// newest returns the number of the latest article at an age of the site.
func newest(age time.Duration) int { return stock + headlines.count(age) }

// publishedAt returns when an article appears, since the beginning. The first articles appeared before it.
func publishedAt(number int) time.Duration {
	if number > stock {
		return headlines.moment(number - stock)
	}
	return time.Duration(number-stock-1) * 37 * time.Minute
}

// correctedAt returns when an article is corrected, since the beginning: once or twice in its first three minutes. A
// disputed one is corrected twice.
func correctedAt(number int) []time.Duration {
	chance, at := mix(3, uint64(number)), publishedAt(number)
	first := at + time.Duration(30+chance%45)*time.Second
	if chance>>32%2 == 0 && !isDisputed(number) {
		return []time.Duration{first}
	}
	return []time.Duration{first, first + time.Duration(60+chance>>16%45)*time.Second}
}

// story returns an article after a number of corrections.
func (s *Site) story(number, corrections int) story {
	st := story{number: number, corrections: corrections, published: s.start.Add(publishedAt(number))}
	st.edited = st.published
	if corrections > 0 {
		st.edited = s.start.Add(correctedAt(number)[corrections-1])
	}
	return st
}

// corrected returns the number of corrections of an article at an age of the site.
func corrected(number int, age time.Duration) int {
	n := 0
	for _, after := range correctedAt(number) {
		if after <= age {
			n++
		}
	}
	return n
}

// A disputed article leaves the front page, the sections and the feed once teasedFor newer ones are there. It is
// withdrawn with the article that is keptFor after it: later than the last page with a link to it.
const (
	teasedFor = 6
	keptFor   = 13
)

// isDisputed reports whether an article is changed without a word: first its headline is softened, then a paragraph is
// removed, and at last it is withdrawn. That happens to every fifth one.
func isDisputed(number int) bool { return number > stock && number%5 == 3 }

// isWithdrawn reports whether an article is withdrawn when number last is the newest one.
func isWithdrawn(number, last int) bool { return isDisputed(number) && last >= number+keptFor }

// teasers returns the n newest articles up to number last, newest first. With a section, it returns only articles of
// the section. The part of an article that a teaser shows is never corrected.
func (s *Site) teasers(n int, in *section, last int) []story {
	var list []story
	for number := last; number > 0 && len(list) < n; number-- {
		st := s.story(number, 0)
		if left := isDisputed(number) && last >= number+teasedFor; !left && (in == nil || st.Section().Path == in.Path) {
			list = append(list, st)
		}
	}
	return list
}

// maxNumber is the maximum number of an article in a path.
const maxNumber = 1 << 30

// parseNumber parses the number of an article.
func parseNumber(digits string) (int, bool) {
	number, err := strconv.Atoi(digits)
	return number, err == nil && number >= 1 && number <= maxNumber
}

// Path returns the path of the article. Corrections never change it.
func (st story) Path() string {
	words := strings.FieldsFunc(strings.ToLower(st.Headline()), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return fmt.Sprintf("/articles/%04d-%s.html", st.number, strings.Join(words[:min(len(words), 5)], "-"))
}

// Picture returns the path of the article's picture.
func (st story) Picture() string { return fmt.Sprintf("/images/%04d.png", st.number) }

// LargePicture returns the path of the same picture in twice the size.
func (st story) LargePicture() string { return fmt.Sprintf("/images/%04d-large.png", st.number) }

// Section returns the section of the article.
func (st story) Section() section { return sections[st.number%len(sections)] }

// Headline returns the title that the article was published with.
func (st story) Headline() string {
	if isDisputed(st.number) {
		return fill(st.dispute()[0], 10, st.number)
	}
	return st.phrase(st.Section().headlines, 10)
}

// Title returns the title that the article has now. The first correction of a disputed article softens it.
func (st story) Title() string {
	if isDisputed(st.number) && st.corrections > 0 {
		return fill(st.dispute()[1], 10, st.number)
	}
	return st.Headline()
}

func (st story) dispute() [2]string { return disputes[st.number/5%len(disputes)] }

// Summary returns the article in one sentence.
func (st story) Summary() string { return st.phrase(summaries, 20) }

// Author returns the name of the author.
func (st story) Author() string { return pick(people, 30, st.number) }

// Published returns the time of publication as shown on the page.
func (st story) Published() string { return st.published.Format(clockForm) }

// Clock returns the time of the last edit, to the minute.
func (st story) Clock() string { return st.edited.Format(clockForm) }

// Paragraphs returns the text of the article. The second correction of a disputed article removes the second paragraph.
func (st story) Paragraphs() []string {
	list := make([]string, 4+st.number%3)
	for i := range list {
		pattern := paragraphs[(mix(40, uint64(st.number))+uint64(i))%uint64(len(paragraphs))]
		list[i] = fill(pattern, uint64(40+10*i), st.number)
	}
	if isDisputed(st.number) && st.corrections > 1 {
		return slices.Delete(list, 1, 2)
	}
	return list
}

// Corrections returns the corrections at the foot of the article. A disputed article has none.
func (st story) Corrections() []string {
	var list []string
	if isDisputed(st.number) {
		return nil
	}
	for i := range st.corrections {
		list = append(list, fmt.Sprintf("Correction %d: %s", i+1, st.phrase(corrections, uint64(200+10*i))))
	}
	return list
}

// phrase fills one of the patterns with names and numbers of this article. The salt makes parts of one article differ.
func (st story) phrase(patterns []string, salt uint64) string {
	return fill(pick(patterns, salt, st.number), salt, st.number)
}

// pick returns one of the words, always the same for one salt and number.
func pick(words []string, salt uint64, number int) string {
	return words[mix(salt, uint64(number))%uint64(len(words))]
}

// fill puts invented names into a pattern: {person}, {place} and so on, and {n} for a number. The result begins with a
// capital letter, unless the pattern begins with a small letter.
func fill(pattern string, salt uint64, number int) string {
	var b strings.Builder
	capital := strings.HasPrefix(pattern, "{")
	for {
		before, after, found := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !found {
			filled := b.String()
			if capital {
				filled = strings.ToUpper(filled[:1]) + filled[1:]
			}
			return filled
		}
		var name string
		name, pattern, _ = strings.Cut(after, "}")
		if name == "n" {
			b.WriteString(strconv.FormatUint(2+mix(salt+7, uint64(number))%97, 10))
		} else {
			b.WriteString(pick(names[name], salt+uint64(len(name)), number))
		}
	}
}
