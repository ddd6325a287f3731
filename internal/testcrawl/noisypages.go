package testcrawl

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// NewsMorning is the time of the first fetch of each page.
var NewsMorning = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// NewsPage is a page of which is known which parts are news and which are noise.
type NewsPage struct {
	Name string
	// Draw returns the page of a day, and the texts of its main content. The main content depends only on the day, the
	// noise only on r and on the time of the fetch.
	Draw func(day int, r *rand.Rand, at time.Time) (page string, content []string)
}

var (
	subjects = []string{
		"Council", "Harbour master", "Fishermen's union", "Ferry company", "School board", "Mayor", "Police", "Coast guard",
	}
	verbs   = []string{"rejects", "approves", "delays", "opens", "closes", "investigates", "praises", "cancels"}
	objects = []string{
		"new terminal", "bridge repair", "night ferry", "fish auction", "library budget", "winter market", "old pier",
		"harbour tax",
	}
)

// story returns the n-th headline.
func story(n int) string {
	return fmt.Sprintf("%s %s %s", subjects[n%8], verbs[n/8%8], objects[(n/3)%8])
}

// stories returns the newest headlines of a day, the newest first, and as items of a list.
func stories(day, count int) (titles []string, items string) {
	var b strings.Builder
	for i := range count {
		title := story(3*day + count - i)
		titles = append(titles, title)
		fmt.Fprintf(&b, "<li><a href=\"/story/%d\">%s</a></li>\n", 3*day+count-i, title)
	}
	return titles, b.String()
}

func randomHex(r *rand.Rand, n int) string {
	return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())[:n]
}

// pick returns one of the texts.
func pick(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

// NewsPages are pages with noise, whose news is easily mistaken for noise.
var NewsPages = []NewsPage{
	{"front page without landmarks", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		titles, items := stories(day, 8)
		lead := "The " + story(day) + " after a meeting that lasted until midnight."
		id := randomHex(r, 26)
		return fmt.Sprintf(`<html><head><title>Harbour News</title></head><body><div id="page"><h1>Harbour News</h1>
<p class="stamp">%s</p><p class="lead">%s</p><ul class="list">%s</ul>
<p><a href="/archive?year=2026&amp;PHPSESSID=%s">Archive</a> <a href="/contact?a=1&amp;PHPSESSID=%s">Contact</a></p>
</div></body></html>`, at.Format("Monday, 2 January 2006, 15:04:05"), lead, items, id, id), append(titles, lead)
	}},
	{"front page with landmarks", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		titles, items := stories(day, 6)
		return fmt.Sprintf(`<!doctype html><html><head><meta name="csrf-token" content="%s"></head><body><header><span class="now">%s</span></header>
<main><section class="news"><h2>News</h2><ul>%s</ul></section><div class="ad-slot"><a href="https://ads.example/%s">%s</a></div></main>
<footer>12 Quay Street</footer></body></html>`, randomHex(r, 32), at.Format("02.01.2006 15:04"), items, randomHex(r, 12), pick(r, "Boats", "Oars", "Herring", "Nets", "Ropes")), titles
	}},
	{"a counter, and related stories in another order", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		text := "The decision about the ferry was made on day " + strconv.Itoa(day) + ", said " + subjects[day%8] + "."
		related := []string{"Seal rescued", "Budget explained", "Bridge closed", "New bakery", "Sports day"}
		r.Shuffle(len(related), func(i, j int) { related[i], related[j] = related[j], related[i] })
		return fmt.Sprintf(`<html><body><article><h1>Ferry</h1><p>%s</p><p>Tickets cost 12 euros and 50 cents for adults of all ages in summer.</p>
<p class="meta">This story has been read %d times.</p></article><aside class="related"><ul><li>%s</li></ul></aside></body></html>`,
				text, 1000+int(at.Unix()-NewsMorning.Unix())/3+r.IntN(3), strings.Join(related, "</li><li>")),
			[]string{text, "12 euros and 50 cents for adults"}
	}},
	{"election results", func(day int, r *rand.Rand, _ time.Time) (string, []string) {
		row := func(name string, n int) string { return fmt.Sprintf(`<td class="votes">%s %d</td>`, name, n) }
		cells := []string{row("Blue", 40100+937*day), row("Green", 38800+1021*day), row("Red", 12000+411*day)}
		return fmt.Sprintf(`<html><body><h1>Results</h1><table><tr>%s</tr></table><p class="count">%d</p><input type="hidden" name="form_build_id" value="form-%s"></body></html>`,
				strings.Join(cells, "</tr><tr>"), 90900+2369*day, randomHex(r, 24)),
			append(cells, fmt.Sprintf(`<p class="count">%d`, 90900+2369*day))
	}},
	{"prices", func(day int, _ *rand.Rand, at time.Time) (string, []string) {
		price := fmt.Sprintf("%d.%02d", 10+day%7, (37*day)%100)
		return fmt.Sprintf(`<html><body><div class="fuel"><b>Diesel</b> <span class="price">%s</span> <small>%s</small></div><p>Prices are in euros.</p></body></html>`,
			price, at.Format("15:04:05")), []string{price, "Diesel", "Prices are in euros."}
	}},
	{"a state of one word", func(day int, r *rand.Rand, _ time.Time) (string, []string) {
		state := []string{"open", "closed", "delayed"}[day%3]
		return fmt.Sprintf(`<html><body><div id="bridge">The bridge is <em class="state">%s</em></div><!-- %s --></body></html>`, state, randomHex(r, 20)),
			[]string{`<em class="state">` + state}
	}},
	{"next event", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		next := NewsMorning.AddDate(0, 0, 3*day+4).Format("2 January 2006")
		return fmt.Sprintf(`<html><body><p class="next">%s</p><p>Concert in the old church by the harbour.</p><i nonce="%s">%s</i></body></html>`,
			next, randomHex(r, 16), at.Format("2006-01-02T15:04:05Z")), []string{next, "Concert in the old church"}
	}},
	{"classified advertisements in another order", func(day int, r *rand.Rand, _ time.Time) (string, []string) {
		var ads []string
		for i := range 6 {
			ads = append(ads, fmt.Sprintf("<li>For sale: %s, %d years, %d euros</li>",
				objects[(day+i)%8], 1+(day+i)%9, 100+10*((day+i)%11)))
		}
		content := append([]string(nil), ads...)
		r.Shuffle(len(ads), func(i, j int) { ads[i], ads[j] = ads[j], ads[i] })
		return `<html><body><h1>Market</h1><ul class="ads">` + strings.Join(ads, "") + `</ul></body></html>`, content
	}},
	{"carousel of lead stories", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		titles, items := stories(day, 5)
		shown := titles[r.IntN(len(titles))]
		teaser := "Read more about this: " + strings.Repeat(shown+" and what it means for the town. ", 2)
		return fmt.Sprintf(`<html><body><main><div class="carousel"><h2>%s</h2><p>%s</p></div><ul class="more">%s</ul></main><p id="clock">%s</p></body></html>`,
			shown, teaser, items, at.Format("15:04:05")), append(titles[:0:0], items)
	}},
	{"two servers with different leads", func(day int, r *rand.Rand, _ time.Time) (string, []string) {
		server := r.IntN(2)
		lead := "In short: " + story(day+server) + ", after a long debate in the town hall on the quay."
		return fmt.Sprintf(`<html><body><div class="content"><p class="lead">%s</p><p>%s is the second story of the day, told in full.</p></div><!-- web%d %s --></body></html>`,
			lead, story(day+5), server, randomHex(r, 8)), []string{lead, story(day + 5)}
	}},
	{"advertisement between the stories", func(day int, r *rand.Rand, _ time.Time) (string, []string) {
		titles, items := stories(day, 5)
		ad := ""
		if r.IntN(2) == 0 {
			ad = `<div class="x` + randomHex(r, 6) + `"><b>` + pick(r, "Boats", "Oars", "Nets") + `</b></div>`
		}
		return fmt.Sprintf(`<html><body><div class="content">%s<ul class="news">%s</ul>%s<p>%s tonight.</p></div></body></html>`, ad, items, ad, story(day)),
			append(titles, story(day)+" tonight.")
	}},
	{"news in a script", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		titles, _ := stories(day, 4)
		return fmt.Sprintf(`<html><body><div id="app"></div><script>window.state = {"built": %d, "token": "%s", "news": ["%s"], "score": [%d, %d]}</script></body></html>`,
				at.UnixMilli(), randomHex(r, 32), strings.Join(titles, `", "`), day%5, day%4),
			append(titles, fmt.Sprintf(`"score": [%d, %d]`, day%5, day%4))
	}},
	{"picture of the day", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		name := fmt.Sprintf("%08x%04d", 0x9e3779b9*uint32(day+1), day)
		return fmt.Sprintf(`<html><body><h1>Picture</h1><a href="/view?picture=%s"><img src="/pictures/%s.jpg" alt="%s"></a><script src="/stats.js?v=%s"></script><p>Page made in 0.%03d seconds.</p></body></html>`,
				name, name, story(day), randomHex(r, 12), r.IntN(1000)),
			[]string{`/pictures/` + name, `?picture=` + name, `alt="` + story(day)}
	}},
	{"lead story with an id", func(day int, r *rand.Rand, _ time.Time) (string, []string) {
		id, lead := fmt.Sprintf("a%08x%04d", 0x9e3779b9*uint32(day+1), day), story(day)
		return fmt.Sprintf(`<html><body><a href="/view?article=%s"><img src="/logo.png"></a><a href="/view?article=%s">%s</a><p class="short">%s</p><a href="/about?sid=%s">About</a></body></html>`,
			id, id, lead, pick(r, "Read on", "Welcome back"), randomHex(r, 20)), []string{"?article=" + id, lead}
	}},
	{"short leads of two servers", func(day int, r *rand.Rand, _ time.Time) (string, []string) {
		lead := subjects[(day+r.IntN(2))%8] + " resigns"
		return fmt.Sprintf(`<html><body><p class="lead">%s</p><meta name="visit" content="%s"></body></html>`, lead, randomHex(r, 30)), []string{lead}
	}},
	{"Danish", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		text := fmt.Sprintf("Færgen sejler nu %d gange om dagen, oplyser rederiet på Ærø.", 3+day%9)
		return fmt.Sprintf(`<html lang="da"><body><div class="top">%s</div><div class="tekst">%s</div><div class="bund">Vist %d gange</div></body></html>`,
			at.Format("02-01-2006 15:04:05"), text, 500+int(at.Unix()-NewsMorning.Unix())/2), []string{text}
	}},
	{"Japanese", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		text := []string{"新しい港の計画を市が発表", "橋は金曜日まで通行止め", "漁師が市役所前で抗議"}[day%3]
		return fmt.Sprintf(`<html lang="ja"><body><p class="lead">%s</p><span id="t">%s</span></body></html>`, text, at.Format("15:04:05")), []string{text}
	}},
	{"live reports", func(day int, r *rand.Rand, at time.Time) (string, []string) {
		var b strings.Builder
		var content []string
		for i := range 4 {
			report := fmt.Sprintf("%02d:%02d %s", 8+(day+i)%12, (17*(day+i))%60, story(day+i))
			content = append(content, report)
			fmt.Fprintf(&b, `<p class="report">%s</p>`, report)
		}
		return fmt.Sprintf(`<html><body><section id="live">%s</section><div class="visitors">%d visitors</div></body></html>`, b.String(), 100+r.IntN(900)), content
	}},
}

// WithUnseen adds to a page what differs at each fetch and no reader sees: tokens, nonces, comments, session ids in
// links.
func WithUnseen(page string, r *rand.Rand, inLinks bool) string {
	top := fmt.Sprintf("<!-- made by web%d %s --><meta name=\"csrf-token\" content=\"%s\">", r.IntN(9), randomHex(r, 16), randomHex(r, 32))
	bottom := fmt.Sprintf(`<form><input type="hidden" name="build" value="%s"><input name="q" value="search"></form>
<script nonce="%s">var visit = "%s", at = %d;</script><noscript><img src="/pixel?r=%d"></noscript>`,
		randomHex(r, 24), randomHex(r, 12), randomHex(r, 20), r.Uint32(), r.Uint32())
	if inLinks {
		bottom += fmt.Sprintf(`<a href="/imprint?lang=en&amp;PHPSESSID=%s">Imprint</a>`, randomHex(r, 26))
	}
	if at := strings.LastIndex(page, "</body>"); at >= 0 {
		bottom = page[:at] + bottom + page[at:]
	} else {
		bottom = page + bottom
	}
	return strings.Replace(bottom, "<html", top+"<html", 1)
}

// NewsProse makes a page long enough to be compared by what a reader sees.
var NewsProse = "<p>" + strings.Repeat("The harbour office is open on all days of the week from eight to four. ", 5) + "</p></body>"

// Bigger returns edits of other sizes than a word: a letter, a sentence, a picture, a block added and main content
// removed.
func Bigger(page string, content []string) []string {
	var all []string
	for _, c := range content {
		at := strings.Index(page, c)
		if at < 0 || strings.ContainsAny(c, `<"?`) {
			continue
		}
		end := at + len(c)
		letter := 'a'
		if page[at] == 'a' {
			letter = 'b'
		}
		all = append(all,
			page[:at]+string(letter)+page[at+1:],
			page[:end]+" Nobody was hurt in the fire."+page[end:],
			page[:at]+page[end:],
			page[:end]+`<img src="/pictures/fire.jpg">`+page[end:],
			page[:end]+`</li><li><a href="/story/999">Fire in the harbour</a>`+page[end:],
			page[:end]+"<section>"+strings.Repeat("<p>The fire spread to two sheds before noon.</p>", 12)+"</section>"+
				page[end:],
		)
	}
	return all
}

var oneWord = regexp.MustCompile(`[\pL\pN]+`)

// Planted returns a page with each word and number of its main content edited, one at a time.
func Planted(page string, content []string) []string {
	var all []string
	for _, c := range content {
		at := strings.Index(page, c)
		for _, m := range oneWord.FindAllStringIndex(c, -1) {
			word := c[m[0]:m[1]]
			edit := "Swordfish"
			if n, err := strconv.Atoi(word); err == nil {
				edit = strconv.Itoa(n + 1)
			}
			before := c[:m[0]]
			inTag := strings.HasSuffix(before, "<") || strings.HasSuffix(before, "/") ||
				strings.Contains(tagBefore(c, m[0]), "<")
			if at >= 0 && !inTag {
				all = append(all, page[:at+m[0]]+edit+page[at+m[1]:])
			}
		}
	}
	return all
}

// tagBefore returns the tag that is open at a position of a text.
func tagBefore(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '<')
	if start < 0 || strings.IndexByte(text[start:at], '>') >= 0 || strings.Contains(text[start:at], `alt="`) {
		return ""
	}
	return text[start:at]
}
