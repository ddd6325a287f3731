package feeds

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/rss"

	"github.com/arcrawl/arcrawl/uri"
)

// Hints hold what a source asks of its readers.
type Hints struct {
	Every     time.Duration // minimum time between visits, from ttl or sy:updatePeriod; zero if it does not say
	SkipHours uint32        // bit n: no visits in hour n of the day, UTC
	SkipDays  uint8         // bit n: no visits on weekday n, UTC; Sunday is 0
}

// maxHint bounds what a source may ask for, before [Policy].HintsUpTo does.
const maxHint = 30 * 24 * time.Hour

func hintsOf(f *gofeed.Feed) Hints {
	var h Hints
	if original, ok := f.OriginalFeed().(*rss.Feed); ok {
		if minutes, err := strconv.Atoi(strings.TrimSpace(original.TTL)); err == nil && minutes > 0 {
			h.Every = hintOf(minutes, time.Minute)
		}
		for _, hour := range original.SkipHours {
			if n, err := strconv.Atoi(strings.TrimSpace(hour)); err == nil && n >= 0 && n <= 24 {
				h.SkipHours |= 1 << (n % 24)
			}
		}
		for _, name := range original.SkipDays {
			for d := time.Sunday; d <= time.Saturday; d++ {
				if strings.EqualFold(strings.TrimSpace(name), d.String()) {
					h.SkipDays |= 1 << d
				}
			}
		}
	}
	h.Every = max(h.Every, updatePeriod(f))
	return h
}

// updatePeriod returns the time between updates that the RSS syndication module states: its updatePeriod divided by its
// updateFrequency.
func updatePeriod(f *gofeed.Feed) time.Duration {
	text := func(name string) string {
		if all := f.Extensions["sy"][name]; len(all) > 0 {
			return strings.ToLower(strings.TrimSpace(all[0].Value))
		}
		return ""
	}
	const day = 24 * time.Hour
	period := map[string]time.Duration{
		"hourly": time.Hour, "daily": day, "weekly": 7 * day, "monthly": 30 * day, "yearly": 365 * day,
	}[text("updatePeriod")]
	times, err := strconv.Atoi(text("updateFrequency"))
	if err != nil || times < 1 {
		times = 1
	}
	return min(period/time.Duration(times), maxHint)
}

// hintOf returns n units, at most maxHint.
func hintOf(n int, unit time.Duration) time.Duration {
	return time.Duration(min(int64(n), int64(maxHint/unit))) * unit
}

// CacheHint returns how long an answer stays fresh by its Cache-Control (RFC 9111, section 5.2.2.1), less its Age. It
// is zero if the answer does not say. Expires is ignored: it would compare the clocks of two machines.
func CacheHint(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		if !strings.EqualFold(name, "max-age") {
			continue
		}
		seconds, err := strconv.Atoi(strings.Trim(value, `"`))
		if err != nil || seconds <= 0 {
			return 0
		}
		age, _ := strconv.Atoi(strings.TrimSpace(h.Get("Age")))
		return max(0, hintOf(seconds, time.Second)-hintOf(max(age, 0), time.Second))
	}
	return 0
}

// skipped reports whether the source asks not to be visited at t.
func (h Hints) skipped(t time.Time) bool {
	t = t.UTC()
	return h.SkipHours&(1<<t.Hour()) != 0 || h.SkipDays&(1<<t.Weekday()) != 0
}

// hubOfJSON returns the WebSub hub and the topic of a JSON Feed. The feed library does not read them.
func (g *gatherer) hubOfJSON(body []byte) (hub, topic uri.URI) {
	var f struct {
		FeedURL string `json:"feed_url"`
		Hubs    []struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"hubs"`
	}
	if json.Unmarshal(body, &f) != nil {
		return uri.URI{}, uri.URI{}
	}
	for _, h := range f.Hubs {
		if strings.EqualFold(h.Type, "WebSub") && hub.IsZero() {
			hub = g.resolve(h.URL)
		}
	}
	return hub, g.resolve(f.FeedURL)
}

// hubLinks returns the WebSub hub and the topic in the Link headers of an answer (W3C WebSub, section 4). They are zero
// if there are none.
func hubLinks(self uri.URI, h http.Header) (hub, topic uri.URI) {
	g := gatherer{self: self}
	for _, value := range h.Values("Link") {
		for range maxHubLinks {
			_, rest, ok := strings.Cut(value, "<")
			if !ok {
				break
			}
			var target string
			target, value, _ = strings.Cut(rest, ">")
			params, _, _ := strings.Cut(value, "<")
			rel := relWords(params)
			if rel["hub"] && hub.IsZero() {
				hub = g.resolve(target)
			}
			if rel["self"] && topic.IsZero() {
				topic = g.resolve(target)
			}
		}
	}
	return hub, topic
}

// maxHubLinks is how many links of one header are examined.
const maxHubLinks = 50

// relWords returns the words of the first rel among the parameters of a link.
func relWords(params string) map[string]bool {
	words := map[string]bool{}
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for word := range strings.FieldsSeq(strings.ToLower(strings.Trim(value, `", `))) {
			words[word] = true
		}
		break
	}
	return words
}
