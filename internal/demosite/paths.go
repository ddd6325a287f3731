package demosite

import (
	"net/http"
	"strings"
	"time"
)

const (
	typeHTML = "text/html; charset=utf-8"
	typePNG  = "image/png"
)

// The weather station fails from weatherFails to weatherWorks in each weatherPeriod.
const (
	weatherPeriod = 75 * time.Second
	weatherFails  = 25 * time.Second
	weatherWorks  = 40 * time.Second
)

// fixed holds the paths that always exist.
var fixed = map[string]resource{
	"/":                      {mime: typeHTML, at: frontNow, body: frontBody},
	"/world/":                sectionAt(0),
	"/city/":                 sectionAt(1),
	"/sport/":                sectionAt(2),
	"/live.html":             {mime: typeHTML, dated: true, at: liveNow, modified: liveModified, body: liveBody},
	"/about.html":            constant(typeHTML, page("About this paper", aboutText)),
	"/archive.html":          {mime: typeHTML, tagged: true, stubborn: true, at: always, body: archiveBody},
	"/weather.html":          {mime: typeHTML, at: weatherNow, body: page("Weather", weatherText)},
	"/ticker.html":           {mime: typeHTML, at: tickerNow, body: tickerBody},
	"/private/newsroom.html": {mime: typeHTML, at: always, body: page("Newsroom", privateText)},
	"/feed.xml": {
		mime: "application/rss+xml; charset=utf-8", tagged: true, dated: true,
		at: feedNow, modified: feedModified, body: feedBody,
	},
	"/latest":     {at: latestNow},
	"/robots.txt": {mime: "text/plain; charset=utf-8", at: always, body: robotsBody},
	"/style.css": constant("text/css; charset=utf-8",
		func(*Site, edition, string) []byte { return stylesheet }),
	"/images/logo.png":  constant(typePNG, func(*Site, edition, string) []byte { return emblem() }),
	"/images/brand.png": constant(typePNG, func(*Site, edition, string) []byte { return emblem() }),
	"/images/paper.png": constant(typePNG, func(*Site, edition, string) []byte { return paper() }),
}

// find returns the resource at a path, which may not be published yet.
func find(path string) (resource, bool) {
	if res, ok := fixed[path]; ok {
		return res, true
	}
	if number, ok := storyNumber(path); ok {
		return articleAt(number), true
	}
	if number, scale, ok := pictureNumber(path); ok {
		return pictureAt(number, scale), true
	}
	return resource{}, false
}

// constant returns a resource that never changes and has both validators.
func constant(mime string, body func(*Site, edition, string) []byte) resource {
	return resource{mime: mime, tagged: true, dated: true, at: always, modified: sinceStart, body: body}
}

func always(*Site, moment) (edition, int)      { return edition{}, http.StatusOK }
func sinceStart(s *Site, _ edition) time.Time  { return s.start }
func robotsBody(*Site, edition, string) []byte { return []byte("User-agent: *\nDisallow: /private/\n") }

func feedNow(_ *Site, now moment) (edition, int) {
	return edition{last: newest(now.age)}, http.StatusOK
}
func feedModified(s *Site, e edition) time.Time { return s.story(e.last, 0).published }
func latestNow(_ *Site, now moment) (edition, int) {
	return edition{number: newest(now.age)}, http.StatusFound
}

func frontNow(_ *Site, now moment) (edition, int) {
	return edition{last: newest(now.age), minute: minuteOf(now.time)}, http.StatusOK
}

func weatherNow(_ *Site, now moment) (edition, int) {
	if phase := now.age % weatherPeriod; phase >= weatherFails && phase < weatherWorks {
		return edition{}, http.StatusServiceUnavailable
	}
	return edition{minute: minuteOf(now.time)}, http.StatusOK
}

const liveTitle = "Storm over Harrowmere"

// liveEntries is the rhythm of the liveblog. It ends after about an hour, when it has maxLive entries.
var liveEntries = rhythm{every: 25 * time.Second, wobble: 9 * time.Second, salt: 8}

const maxLive = 150

func liveNow(_ *Site, now moment) (edition, int) {
	return edition{number: min(liveEntries.count(now.age), maxLive-1)}, http.StatusOK
}
func liveModified(s *Site, e edition) time.Time { return s.start.Add(liveEntries.moment(e.number)) }

func tickerNow(_ *Site, now moment) (edition, int) {
	return edition{number: int(now.age / time.Second), minute: minuteOf(now.time)}, http.StatusOK
}

// sectionAt returns the page of a section: a new edition about every 45 s, with the articles published by then.
func sectionAt(i int) resource {
	editions := rhythm{every: 45 * time.Second, wobble: 9 * time.Second, salt: uint64(100 + i)}
	return resource{
		mime: typeHTML, dated: true, body: sectionBody(i),
		at: func(_ *Site, now moment) (edition, int) {
			k := editions.count(now.age)
			return edition{number: k, last: newest(editions.moment(k)), minute: minuteOf(now.time)}, http.StatusOK
		},
		modified: func(s *Site, e edition) time.Time {
			printed, clock := s.start.Add(editions.moment(e.number)), time.Unix(e.minute*60, 0).UTC()
			if clock.After(printed) {
				return clock
			}
			return printed
		},
	}
}

// articleAt returns an article, from its publication on. A disputed one is withdrawn.
func articleAt(number int) resource {
	return resource{
		mime: typeHTML, tagged: true, dated: true, body: articleBody,
		at: func(_ *Site, now moment) (edition, int) {
			if number > newest(now.age) {
				return edition{}, http.StatusNotFound
			}
			if isWithdrawn(number, newest(now.age)) {
				return edition{}, http.StatusGone
			}
			return edition{number: number, corrections: corrected(number, now.age)}, http.StatusOK
		},
		modified: func(s *Site, e edition) time.Time { return s.story(e.number, e.corrections).edited },
	}
}

// pictureAt returns the picture of an article. It appears with the article and never changes.
func pictureAt(number, scale int) resource {
	return resource{
		mime: typePNG, tagged: true, dated: true,
		at: func(_ *Site, now moment) (edition, int) {
			if number > newest(now.age) {
				return edition{}, http.StatusNotFound
			}
			return edition{number: number}, http.StatusOK
		},
		modified: func(s *Site, e edition) time.Time { return s.story(e.number, 0).published },
		body:     func(_ *Site, e edition, _ string) []byte { return landscape(e.number, scale) },
	}
}

// storyNumber parses the number of an article from its path. The path must be exactly the path of the article.
func storyNumber(path string) (int, bool) {
	name, ours := strings.CutPrefix(path, "/articles/")
	digits, _, _ := strings.Cut(name, "-")
	number, ok := parseNumber(digits)
	return number, ours && ok && (story{number: number}).Path() == path
}

// pictureNumber parses "/images/0013.png" and "/images/0013-large.png" into the number of the article and the scale.
func pictureNumber(path string) (number, scale int, ok bool) {
	name, ours := strings.CutPrefix(path, "/images/")
	digits, _, _ := strings.Cut(strings.TrimSuffix(name, ".png"), "-")
	number, ok = parseNumber(digits)
	switch st := (story{number: number}); {
	case !ours || !ok:
		return 0, 0, false
	case st.Picture() == path:
		return number, 1, true
	default:
		return number, 2, st.LargePicture() == path
	}
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }
