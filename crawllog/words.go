package crawllog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// plain are the annotations without a value, in words.
var plain = map[string]string{
	Unchanged:                   "the same as at the last capture",
	MidFetchAbort:               "stopped after the header, which showed no change",
	LengthTruncated:             "cut at the maximum size",
	TimeTruncated:               "cut after the maximum time",
	DuplicateDigest:             "the archive had this content already",
	DuplicateNotModified:        "the server said that nothing changed (304)",
	Unwritten:                   "the archive had this content already; no record was written",
	Evidence:                    "archived in a metadata record, because replay tools do not accept the answer",
	OtherRequest:                "the request was another one than before, by the settings",
	AcceptedExpired:             "its expired certificate was accepted, by the settings",
	Restless:                    "a page that differs at each visit",
	Noise:                       "only parts differ that a reader does not see",
	Look + "same":               "fetched twice: the same both times",
	Look + "noisy":              "fetched twice: only parts differ that a reader does not see",
	Look + "differs":            "fetched twice: the page differs at each visit",
	Look + "failed":             "fetched twice: the second fetch failed",
	"rendered:changed":          "after the visit before, a browser showed another text",
	"rendered:unchanged":        "after the visit before, a browser showed the same text",
	Hit + "exact":               "the archive has the same payload of this URI",
	Hit + "equivalent":          "the archive has the same payload of an equivalent URI",
	Hit + "other":               "the archive has the same payload of another URI",
	Hit + "none":                "the archive did not have this payload",
	"audit":                     "fetched whole, to check what the server says about changes",
	"loop:redirect":             "a redirect that leads back to itself",
	"notFound:title":            "a page that says that the page does not exist",
	"notFound:configured":       "a page that says that the page does not exist, by the settings",
	"feedGap":                   "entries of the feed were probably missed",
	"feedSlow":                  "seldom visited: the feed is dead, silent or unreadable",
	"feedBroken":                "the feed is faulty and was read as far as possible",
	"sitemapGap":                "entries of the sitemap were probably missed",
	"sitemapSlow":               "seldom visited: the sitemap is dead, silent or unreadable",
	"sitemapBroken":             "the sitemap is faulty and was read as far as possible",
	"again":                     "the visit before found a change too",
	"dated:its_entries":         "its entries say how often it changed",
	"dated:its_feed_or_sitemap": "its feed or sitemap says when it changed",
}

// valued are the beginnings of annotations with a value, each with a function that says it in words.
var valued = []struct {
	prefix string
	say    func(value string) string
}{
	{"chg:", perDay},
	{"miss:", share},
	{"odds:", odds},
	{"new:", counted("about %s new since the last visit", "version")},
	{Spared, func(v string) string { n, _ := strconv.ParseInt(v, 10, 64); return human.Bytes(n) + " not transferred" }},
	{Asked, func(v string) string {
		n, _ := strconv.ParseInt(v, 10, 64)
		return "the server asked for no request during " + human.Duration(time.Duration(n)*time.Second)
	}},
	{"dol:", counted("%s left out", "link")},
	{"head:", counted("%s of its header repaired", "line")},
	{"feedListed:", counted("first reading, with %s", "entry")},
	{"feedNew:", counted("%s new", "entry")},
	{"feedUpdated:", counted("%s changed", "entry")},
	{"sitemapListed:", counted("first reading, with %s", "entry")},
	{"sitemapNew:", counted("%s new", "entry")},
	{"sitemapUpdated:", counted("%s changed", "entry")},
	{"challenge:", func(v string) string { return "a challenge to prove that the visitor is human (" + v + ")" }},
	{"consent:", func(v string) string { return "a wall that asks for consent (" + v + ")" }},
	{Permission, func(v string) string { return "robots.txt forbids it; permitted by: " + v }},
	{Way, func(v string) string { return "connected by " + v }},
	{"ip:", func(v string) string { return "from " + v }},
	{"content-size:", func(string) string { return "" }}, // has a column of its own
	{errorPrefix, func(v string) string { return v }},
}

// Words returns an annotation in words for people, without the figures that a log line has elsewhere too. An annotation
// that it does not know is returned as it is.
func Words(annotation string) string {
	if text, ok := plain[annotation]; ok {
		return text
	}
	for _, a := range valued {
		if value, ok := strings.CutPrefix(annotation, a.prefix); ok {
			return a.say(strings.ReplaceAll(value, "_", " "))
		}
	}
	return annotation
}

// perDay says how often a page is expected to change.
func perDay(value string) string {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || n <= 0:
		return ""
	case n >= 1:
		return fmt.Sprintf("%.1f changes a day are expected", n)
	}
	return "a change every " + human.About(time.Duration(float64(24*time.Hour)/max(n, 1e-4))) + " is expected"
}

// share says which part of the versions is expected to be missed.
func share(value string) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("about %.0f %% of versions are missed", 100*n)
}

// counted returns a function that says a number with its noun in a sentence.
func counted(sentence, noun string) func(string) string {
	return func(value string) string {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return ""
		}
		return fmt.Sprintf(sentence, human.Count(int64(n+0.5), noun))
	}
}

// odds says how probable a change was.
func odds(v string) string {
	p, err := strconv.ParseFloat(v, 64)
	if err != nil || !(p > 0 && p <= 1) {
		return ""
	}
	return "a change was expected with a probability of " + strconv.Itoa(int(100*p+0.5)) + " %"
}
