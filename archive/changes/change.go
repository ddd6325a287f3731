package changes

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/arcrawl/arcrawl/digest"
)

// Kind says what changed.
type Kind string

// The kinds, the most important one first. The names are stored: do not change them.
const (
	Withdrawn Kind = "withdrawn" // the page is gone
	Moved     Kind = "moved"     // the address leads to another one
	Wall      Kind = "wall"      // something else was served in place of the page
	Returned  Kind = "returned"  // the page is there again
	Headline  Kind = "headline"
	Text      Kind = "text"     // of the article
	Entries   Kind = "links"    // entries came, went, or have other words: what a page of teasers is about
	Images    Kind = "pictures" // pictures came, went, or were replaced
	Around    Kind = "around"   // what a reader sees next to the article: a clock, comments, advertisements
	Nothing   Kind = "nothing"  // nothing that a reader sees
)

// Kinds returns all kinds, the most important one first.
func Kinds() []Kind {
	return []Kind{Withdrawn, Moved, Wall, Returned, Headline, Text, Entries, Images, Around, Nothing}
}

// Version is a version of a URI. Content is without content coding.
type Version struct {
	URI     string
	Status  int
	Header  http.Header
	Content []byte
	Wall    string // what was served in place of the page, as evaluators.Block names it; "" = nothing
}

// Size counts what came and went.
type Size struct {
	Removed int `json:"removed"`
	Added   int `json:"added"`
}

func (s Size) total() int { return s.Removed + s.Added }

// Change says what a reader sees that changed from one version to the next.
type Change struct {
	Kinds     []Kind    `json:"kinds"` // at least one, the most important one first; none if there is a problem
	Headlines [2]string `json:"headlines"`
	Words     Size      `json:"words"` // of the article
	Sentences Size      `json:"sentences"`
	Links     Size      `json:"links"`
	Reworded  int       `json:"reworded,omitempty"` // links with another text
	Pictures  Size      `json:"pictures"`
	Around    Size      `json:"around"`          // words
	First     []Part    `json:"first,omitempty"` // the first sentence that changed
	Came      []Link    `json:"came,omitempty"`  // at most MaxListed
	Went      []Link    `json:"went,omitempty"`
	To        string    `json:"to,omitempty"`       // where a moved page went
	Wall      string    `json:"wall,omitempty"`     // as evaluators.Block names it
	Versions  int       `json:"versions,omitempty"` // that a withdrawn page had
	Problem   string    `json:"problem,omitempty"`  // why the versions cannot be compared
	Notes     []string  `json:"notes,omitempty"`    // what was not read
}

// MaxListed is the maximum number of links in each list of a change.
const MaxListed = 50

// Is reports whether a change is of a kind.
func (c Change) Is(k Kind) bool { return slices.Contains(c.Kinds, k) }

// state says what a version is, apart from its content.
type state struct {
	kind Kind // Nothing = an ordinary page
	wall string
	to   string
}

// notFound begins the names of pages that say with status 200 that they do not exist. It is stored in logs.
const notFound = "notFound:"

// stateOf returns what a version is. ok is false for a failure: it says nothing about the page.
func stateOf(v Version) (s state, ok bool) {
	switch {
	case v.Status == http.StatusNotFound, v.Status == http.StatusGone, v.Status == http.StatusUnavailableForLegalReasons,
		strings.HasPrefix(v.Wall, notFound):
		return state{kind: Withdrawn}, true
	case v.Wall != "":
		return state{kind: Wall, wall: v.Wall}, true
	case v.Status >= 300 && v.Status < 400 && v.Header.Get("Location") != "":
		return state{kind: Moved, to: v.Header.Get("Location")}, true
	case v.Status >= 200 && v.Status < 300:
		return state{kind: Nothing}, true
	}
	return s, false
}

// Between compares two versions of a URI. earlier is the number of versions before the second one: of a page that is
// withdrawn, a reader wants to know how many there were.
func Between(before, after Version, earlier int) Change {
	was, ok := stateOf(before)
	is, okAfter := stateOf(after)
	switch {
	case !ok || !okAfter:
		return Change{Problem: "One of the versions is a failure of the server, which says nothing about the page."}
	case is.kind != Nothing && is == was:
		return Change{Kinds: []Kind{Nothing}}
	case is.kind == Withdrawn:
		return Change{Kinds: []Kind{Withdrawn}, Versions: earlier}
	case is.kind != Nothing:
		return Change{Kinds: []Kind{is.kind}, Wall: is.wall, To: is.to}
	case was.kind != Nothing:
		return Change{Kinds: []Kind{Returned}, Wall: was.wall, To: was.to}
	}
	types := [2]string{before.Header.Get("Content-Type"), after.Header.Get("Content-Type")}
	if !digest.IsHTML(types[0]) || !digest.IsHTML(types[1]) {
		return Change{Problem: "One of the versions is not an HTML page."}
	}
	return Compare(Read(before.Content, types[0], before.URI), Read(after.Content, types[1], after.URI))
}

// Compare compares what a reader sees of two versions.
func Compare(before, after *Page) Change {
	c := comparison{before: before, after: after}
	c.links()
	c.pictures()
	c.text()
	c.notes()
	c.kinds()
	return c.out
}

// comparison makes a change of two pages.
type comparison struct {
	before, after *Page
	out           Change
	headline      bool
	textual       bool // of the article; also without a word, such as a comma
	entries       bool
	images        bool
	around        bool
	diffed        int // bytes that were compared word by word
}

func (c *comparison) kinds() {
	for _, k := range []struct {
		is   bool
		kind Kind
	}{
		{c.headline, Headline}, {c.textual, Text}, {c.entries, Entries}, {c.images, Images}, {c.around, Around},
	} {
		if k.is {
			c.out.Kinds = append(c.out.Kinds, k.kind)
		}
	}
	if len(c.out.Kinds) == 0 {
		c.out.Kinds = []Kind{Nothing}
	}
}

func (c *comparison) notes() {
	for _, p := range []*Page{c.before, c.after} {
		switch {
		case p.Cut:
			c.out.Notes = append(c.out.Notes, "Only the first 4 MB, and 60,000 elements, of a version were compared.")
		case p.Flat:
			c.out.Notes = append(c.out.Notes, "The elements of a version are nested too deeply to find its main text.")
		default:
			continue
		}
		return
	}
}

// count returns how often each one occurs, and counts advertisements apart.
func count[T any](all []T, key func(T) (string, bool)) (seen, ads map[string]int) {
	seen, ads = map[string]int{}, map[string]int{}
	for _, x := range all {
		if k, ad := key(x); ad {
			ads[k]++
		} else {
			seen[k]++
		}
	}
	return seen, ads
}

// links compares where the entries of both versions lead. A page with the same entries in another order looks
// different, too; the text says that.
func (c *comparison) links() {
	key := func(l Link) (string, bool) {
		if l.ad { // each visitor gets an address of his own
			host, _, _ := strings.Cut(l.URI, "?")
			return host, true
		}
		return l.URI, false
	}
	was, wasAds := count(c.before.Links, key)
	is, isAds := count(c.after.Links, key)
	c.around = c.around || !maps.Equal(wasAds, isAds)
	gone := func(all []Link, others map[string]int) (list []Link, n int) {
		listed := map[string]bool{}
		for _, l := range all {
			if l.ad || l.enlarges || others[l.URI] > 0 || listed[l.URI] {
				continue
			}
			listed[l.URI] = true
			if n++; len(list) < MaxListed {
				list = append(list, named(l, all))
			}
		}
		return list, n
	}
	c.out.Went, c.out.Links.Removed = gone(c.before.Links, is)
	c.out.Came, c.out.Links.Added = gone(c.after.Links, was)
	c.entries = c.out.Links.total() > 0
}

// named returns a link with the text of another link to the same address if it has none: the picture of a teaser often
// comes before its title.
func named(l Link, all []Link) Link {
	i := slices.IndexFunc(all, func(o Link) bool { return o.Text != "" && o.URI == l.URI })
	if l.Text == "" && i >= 0 {
		l.Text = all[i].Text
	}
	return l
}

func (c *comparison) pictures() {
	key := func(p Picture) (string, bool) { return p.key + "\n" + p.Alt, p.ad }
	was, wasAds := count(c.before.Pictures, key)
	is, isAds := count(c.after.Pictures, key)
	c.around = c.around || !maps.Equal(wasAds, isAds)
	for k := range was {
		if is[k] == 0 {
			c.out.Pictures.Removed++
		}
	}
	for k := range is {
		if was[k] == 0 {
			c.out.Pictures.Added++
		}
	}
	c.images = c.out.Pictures.total() > 0
}

// maxByline is the maximum number of words of a clock, or of an author and a date.
const maxByline = 8

// kindOf returns the kind of a change of a block.
func (p *Page) kindOf(i int) Kind {
	b := p.blocks[i]
	switch {
	case b.place == inAd, b.place == inComments, b.place == inByline && b.words <= maxByline && b.heading == 0:
		return Around
	case b.text == p.Headline:
		return Headline
	case p.isEntry(b) && (p.index || !b.main), 10*b.linked >= 9*len(b.text):
		return Entries
	case b.main, b.place == inPage && (b.beside || b.between && b.words >= 6 || b.words >= 10):
		return Text
	}
	return Around
}

// texts returns the texts of all blocks.
func (p *Page) texts() []string {
	all := make([]string, len(p.blocks))
	for i, b := range p.blocks {
		all[i] = b.text
	}
	return all
}

// text compares the blocks of both versions.
func (c *comparison) text() {
	old, fresh := c.before.Headline, c.after.Headline
	differ := hunks(c.before.texts(), c.after.texts())
	if len(differ) == 0 {
		c.around = c.around || c.before.Title != c.after.Title
		return
	}
	c.before.Article()
	c.after.Article()
	c.headline = old != fresh && old != "" && fresh != ""
	if c.headline {
		c.out.Headlines = [2]string{old, fresh}
	} else {
		c.around = c.around || c.before.Title != c.after.Title
	}
	var sentences [2]map[string]int
	sentences[0], sentences[1] = map[string]int{}, map[string]int{}
	for _, h := range differ {
		c.hunk(h, sentences)
	}
	for s, n := range sentences[0] {
		c.out.Sentences.Removed += max(0, n-sentences[1][s])
	}
	for s, n := range sentences[1] {
		c.out.Sentences.Added += max(0, n-sentences[0][s])
	}
}

// hunk counts what a hunk changed.
func (c *comparison) hunk(h hunk, sentences [2]map[string]int) {
	var before, after []int // blocks of the article
	sort := func(p *Page, from, to int, list *[]int, words *int, headline string) {
		for i := from; i < to; i++ {
			b := p.blocks[i]
			switch k := p.kindOf(i); {
			case c.headline && strings.Contains(b.text, headline):
			case k == Text || k == Headline:
				*list = append(*list, i)
			case k == Entries:
				c.entries = true
				c.out.Reworded++
			default:
				c.around = true
				*words += b.words
			}
		}
	}
	sort(c.before, h.from, h.to, &before, &c.out.Around.Removed, c.out.Headlines[0])
	sort(c.after, h.newFrom, h.newTo, &after, &c.out.Around.Added, c.out.Headlines[1])
	c.textual = c.textual || len(before)+len(after) > 0
	for _, pair := range c.pairs(before, after) {
		var old, fresh string
		if pair[0] >= 0 {
			old = c.before.blocks[pair[0]].text
		}
		if pair[1] >= 0 {
			fresh = c.after.blocks[pair[1]].text
		}
		c.paragraph(old, fresh)
		for _, s := range sentencesOf(old) {
			sentences[0][s]++
		}
		for _, s := range sentencesOf(fresh) {
			sentences[1][s]++
		}
	}
}

// maxDiffed is the number of bytes of both versions that are compared word by word. Behind it, whole paragraphs count.
const maxDiffed = 1 << 20

// paragraph counts the words that changed in a paragraph. One of the texts may be empty.
func (c *comparison) paragraph(before, after string) {
	c.diffed += len(before) + len(after)
	if before == "" || after == "" || c.diffed > maxDiffed {
		c.out.Words.Removed += countWords(before)
		c.out.Words.Added += countWords(after)
	} else {
		for _, p := range wordParts(before, after) {
			switch {
			case p.Removed:
				c.out.Words.Removed += countWords(p.Text)
			case p.Added:
				c.out.Words.Added += countWords(p.Text)
			}
		}
	}
	if c.out.First == nil || !hasWords(c.out.First) {
		c.out.First = firstSentence(before, after)
	}
}

// maxSentence is the maximum length of the first sentence, in bytes.
const maxSentence = 1000

// firstSentence returns the first sentence that differs, with its words marked.
func firstSentence(before, after string) []Part {
	old, fresh := sentencesOf(before), sentencesOf(after)
	i := 0
	for i < len(old) && i < len(fresh) && old[i] == fresh[i] {
		i++
	}
	var a, b string
	if i < len(old) && !slices.Contains(fresh, old[i]) {
		a = old[i]
	}
	if i < len(fresh) && !slices.Contains(old, fresh[i]) {
		b = fresh[i]
	}
	a, b = strings.ToValidUTF8(a[:min(len(a), maxSentence)], ""), strings.ToValidUTF8(b[:min(len(b), maxSentence)], "")
	return wordParts(a, b)
}

// hasWords reports whether a sentence has at least three words that are no numbers. A time or a name alone says little.
func hasWords(parts []Part) bool {
	n := 0
	for _, p := range parts {
		for _, s := range segments(p.Text) {
			if strings.ContainsFunc(s, unicode.IsLetter) {
				n++
			}
		}
	}
	return n >= 3
}

// maxPairs is the maximum number of comparisons that find the pairs of paragraphs of a hunk.
const maxPairs = 400

// pairs finds out which paragraph became which, by their words. -1 stands for a paragraph that came or went.
func (c *comparison) pairs(before, after []int) (all [][2]int) {
	if len(before)*len(after) > maxPairs {
		for i := range max(len(before), len(after)) {
			pair := [2]int{-1, -1}
			if i < len(before) {
				pair[0] = before[i]
			}
			if i < len(after) {
				pair[1] = after[i]
			}
			all = append(all, pair)
		}
		return all
	}
	next := 0 // of after: pairs do not cross
	for _, i := range before {
		best, most := -1, 0.3
		words := wordSet(c.before.blocks[i].text)
		for k := next; k < len(after); k++ {
			if s := alike(words, wordSet(c.after.blocks[after[k]].text)); s > most {
				best, most = k, s
			}
		}
		if best < 0 {
			all = append(all, [2]int{i, -1})
			continue
		}
		for ; next < best; next++ {
			all = append(all, [2]int{-1, after[next]})
		}
		all = append(all, [2]int{i, after[best]})
		next = best + 1
	}
	for ; next < len(after); next++ {
		all = append(all, [2]int{-1, after[next]})
	}
	return all
}

// alike returns the share of words that two texts have in common, from 0 to 1.
func alike(a, b map[string]bool) float64 {
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	return float64(common) / float64(max(1, len(a), len(b)))
}
