package heritrix

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// conversion says which key a property of Heritrix becomes, and how its value is written.
type conversion struct {
	key  string
	host bool // allowed in the file of a host
	text func(string) (string, error)
}

// conversions lists every property with a counterpart, by its name in the profiles of Heritrix.
var conversions = map[string]conversion{
	"metadata.operatorContactUrl":                 {"operator.contact", false, quoted},
	"metadata.operator":                           {"operator.name", false, quoted},
	"metadata.organization":                       {"operator.name", false, quoted},
	"disposition.delayFactor":                     {"politeness.delay_factor", true, decimal},
	"disposition.minDelayMs":                      {"politeness.min_delay", true, milliseconds},
	"disposition.maxDelayMs":                      {"politeness.max_delay", true, milliseconds},
	"disposition.respectCrawlDelayUpToSeconds":    {"politeness.crawl_delay_up_to", true, seconds},
	"queueAssignmentPolicy.parallelQueues":        {"politeness.valence", true, whole},
	"preconditions.robotsValidityDurationSeconds": {"robots.wait", true, seconds},
	"frontier.retryDelaySeconds":                  {"retry.first", true, seconds},
	"fetchHttp.timeoutSeconds":                    {"fetch.body_timeout", true, seconds},
	"fetchHttp.soTimeoutMs":                       {"fetch.header_timeout", true, milliseconds},
	"fetchHttp.maxLengthBytes":                    {"fetch.max_body", true, bytesOf},
	"warcWriter.prefix":                           {"warc.prefix", false, quoted},
	"warcWriter.maxFileSizeBytes":                 {"warc.max_size", false, bytesOf},
	"crawlController.maxToeThreads":               {"crawl.workers", false, whole},
	"diskSpaceMonitor.pauseThresholdMiB":          {"storage.min_free", false, mebibytes},
	"loggerModule.logExtraInfo":                   {"log.extra_info", false, boolean},
	"outbackCDXClient.endpoint":                   {"index.outbackcdx", false, quoted},
}

func quoted(s string) (string, error) { return strconv.Quote(s), nil }

func decimal(s string) (string, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 {
		return "", fmt.Errorf("%q is not a number", s)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text, nil
}

func whole(s string) (string, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 1 {
		return "", fmt.Errorf("%q is not a number above zero", s)
	}
	return strconv.FormatInt(n, 10), nil
}

func milliseconds(s string) (string, error) { return duration(s, time.Millisecond) }
func seconds(s string) (string, error)      { return duration(s, time.Second) }

func duration(s string, unit time.Duration) (string, error) {
	n, err := strconv.ParseInt(s, 10, 40)
	if err != nil || n < 0 {
		return "", fmt.Errorf("%q is not a number", s)
	}
	return strconv.Quote(durationText(time.Duration(n) * unit)), nil
}

// durationText returns d in the largest unit that divides it.
func durationText(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d > 0 && d%u.size == 0 {
			return strconv.FormatInt(int64(d/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

// bytesOf returns a number of bytes as a size. In Heritrix zero means no limit.
func bytesOf(s string) (string, error) {
	n, err := strconv.ParseInt(s, 10, 63)
	switch {
	case err != nil || n < 0:
		return "", fmt.Errorf("%q is not a number", s)
	case n == 0:
		return "", fmt.Errorf("no limit; the default applies")
	}
	return strconv.Quote(strconv.FormatInt(n, 10) + "B"), nil
}

// mebibytes returns a number of MiB as a size.
func mebibytes(s string) (string, error) {
	n, err := strconv.ParseInt(s, 10, 40)
	if err != nil || n < 0 {
		return "", fmt.Errorf("%q is not a number", s)
	}
	return strconv.Quote(strconv.FormatInt(n, 10) + "MiB"), nil
}

func boolean(s string) (string, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return "", fmt.Errorf("%q is neither true nor false", s)
	}
	return strconv.FormatBool(b), nil
}

// defaultOf matches an expression of Spring with a default: #{systemEnvironment['X'] ?: 'value'} or ${x:value}.
var defaultOf = regexp.MustCompile(`^(?:#\{.*\?:\s*(?:'([^']*)'|"([^"]*)"|([-\w.]+))\s*\}|\$\{[^:}]+:([^}]*)\})$`)

// withDefault returns the default of an expression, and whether the text is one.
func withDefault(text string) (string, bool) {
	m := defaultOf.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return text, false
	}
	return m[1] + m[2] + m[3] + m[4], true
}

// harmless lists the beans whose settings do not change what is crawled or archived.
var harmless = []string{
	"metadata.audience", "metadata.operatorFrom", "loggerModule.", "statisticsTracker.", "bdb.", "checkpointService.",
	"actionDirectory.", "seeds.source",
}
