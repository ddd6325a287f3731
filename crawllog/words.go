package crawllog

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Meaning says in words what an annotation of crawl.log means. Whoever writes an annotation has its meaning.
type Meaning struct {
	Annotation string // or the beginning of annotations, if Say is set
	Words      string
	// Say returns the words for an annotation with a value, which has blanks in place of "_".
	Say func(value string) string
}

// plain are the annotations of the plain walk without a value, in words.
var plain = map[string]string{
	Unchanged:                 "the same as at the last capture",
	MidFetchAbort:             "stopped after the header, which showed no change",
	LengthTruncated:           "cut at the maximum size",
	TimeTruncated:             "cut after the maximum time",
	DuplicateDigest:           "the archive had this content already",
	DuplicateNotModified:      "the server said that nothing changed (304)",
	Unwritten:                 "the archive had this content already; no record was written",
	UnwrittenFor + "coding":   "the archive has the same content in another content coding; no record was written",
	UnwrittenFor + "scrubbed": "only parts that do not count differ from the archived answer; no record was written",
	UnwrittenFor + "evidence": "a metadata record has this answer or one with the same content; no other was written",
	UnwrittenFor + "fault":    "no record could be written",
	Evidence:                  "archived in a metadata record, because replay tools do not accept the answer",
	"rendered:changed":        "after the visit before, a browser showed another text",
	"rendered:unchanged":      "after the visit before, a browser showed the same text",
	Hit + "exact":             "the archive has the same content of this URI",
	Hit + "equivalent":        "the archive has the same content of an equivalent URI",
	Hit + "other":             "the archive has the same content of another URI",
	Hit + "none":              "the archive did not have this content",
	"audit":                   "fetched whole, to check what the server says about changes",
	"again":                   "the visit before found a change too",
	"robotsExcluded":          "robots.txt forbids it",
	"robotsUnreachable":       "its robots.txt could not be fetched",
	"outOfScope":              "it is out of scope",
}

// valued are the beginnings of annotations of the plain walk with a value.
var valued = []Meaning{
	{Annotation: "chg:", Say: perDay},
	{Annotation: "miss:", Say: share},
	{Annotation: "odds:", Say: odds},
	{Annotation: "new:", Say: Counted("about %s new since the last visit", "version")},
	{Annotation: Spared, Say: func(v string) string {
		n, _ := strconv.ParseInt(v, 10, 64)
		return human.Bytes(n) + " not transferred"
	}},
	{Annotation: "dol:", Say: Counted("%s left out", "link")},
	{Annotation: "head:", Say: Counted("%s of its header repaired", "line")},
	{Annotation: "ip:", Say: func(v string) string { return "from " + v }},
	{Annotation: "content-size:", Say: func(string) string { return "" }}, // has a column of its own
	{Annotation: "sameAs:", Say: func(v string) string { return "it is the same as " + v + ", which is visited" }},
	{Annotation: errorPrefix, Say: func(v string) string { return v }},
}

// Words returns an annotation in words for people, without the figures that a log line has elsewhere too. others are
// the meanings of what aspects write. An annotation that nobody knows is returned as it is.
func Words(annotation string, others ...Meaning) string {
	if text, ok := plain[annotation]; ok {
		return text
	}
	for _, meanings := range [][]Meaning{valued, others} {
		for _, m := range meanings {
			value, begins := strings.CutPrefix(annotation, m.Annotation)
			switch {
			case m.Say != nil && begins:
				return m.Say(strings.ReplaceAll(value, "_", " "))
			case m.Say == nil && annotation == m.Annotation:
				return m.Words
			}
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

// Counted returns a function that says a number with its noun in a sentence.
func Counted(sentence, noun string) func(string) string {
	return func(value string) string {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return ""
		}
		return fmt.Sprintf(sentence, human.Count(int64(n+0.5), noun))
	}
}

// Lasting returns a function that says a number of seconds in a sentence.
func Lasting(sentence string) func(string) string {
	return func(value string) string {
		n, _ := strconv.ParseInt(value, 10, 64)
		return fmt.Sprintf(sentence, human.Duration(time.Duration(n)*time.Second))
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

// StatusText returns a status of HTTP or Heritrix with its meaning, for example "404 Not Found".
func StatusText(status int) string {
	meaning := http.StatusText(status)
	if meaning == "" {
		meaning = heritrixStatus[status]
	}
	if meaning == "" {
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status) + " " + meaning
}

// heritrixStatus holds the meanings of the negative status codes of Heritrix that arcrawl uses.
var heritrixStatus = map[int]string{
	-1: "DNS lookup failed", -2: "connection failed", -3: "connection lost", -4: "timed out", -5: "response is not HTTP",
	-404: "empty response", -5000: "out of scope", -9998: "forbidden by robots.txt",
}
