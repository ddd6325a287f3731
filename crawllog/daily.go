package crawllog

import (
	"bytes"

	"github.com/arcrawl/arcrawl/evaluators"
)

// DailyCount returns a visit as the crawl adds it to its daily counts. A robots.txt, a first capture, and a feed or
// sitemap, whose entries are read, are never a version. If the line does not say how many versions appeared since the
// last visit, the estimate is made from the share of visits that found one.
func DailyCount(g *RawEntry) evaluators.Day {
	switch {
	case NotTried(g.Status), g.Status == dnsFailed, g.Status == connectFailed:
		return evaluators.Day{}
	case g.Misfortune, Refused(g.Status), bytes.HasSuffix(g.URI, robotsTxt),
		g.Uncounted, g.Scheduled && g.Versions <= 1 && !g.Unchanged:
		return evaluators.Day{Requests: 1}
	}
	if !IsVersion(g) || g.Unchanged {
		return evaluators.Day{Requests: 1}
	}
	blind, versions := 0, max(g.New, 1)
	if g.Scheduled && g.Versions > 1 {
		blind = evaluators.BlindIf(g.Visits, g.Versions)
	}
	if g.New == 0 && g.Scheduled && g.Visits > 1 {
		versions = evaluators.VersionsFound(g.Visits, g.Versions)
	}
	return evaluators.Found(versions-1, g.Versions-1, blind)
}

// Heritrix's status codes for a host that could not be reached.
const dnsFailed, connectFailed = -1, -2

var robotsTxt = []byte("/robots.txt")

// notTried is the largest of Heritrix's status codes for URIs that were not fetched because of a decision.
const notTried = -5000

// NotTried reports whether a status means that the URI was not fetched because of a decision.
func NotTried(status int) bool { return status <= notTried }

// Refused reports whether a status means that the page was not served.
func Refused(status int) bool {
	switch status {
	case 401, 403, 407, 408, 425, 429:
		return true
	}
	return status <= 0 || status >= 500
}

// IsVersion reports whether a line is about a new version, unless it says that the content is unchanged.
func IsVersion(g *RawEntry) bool {
	if len(g.State) > 0 {
		return string(g.State) == "changed"
	}
	return g.Scheduled && g.Status != 404 && g.Status != 410
}
