package heritrix

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
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
	"metadata.operatorContactUrl":                 {"operator.contact", false, contact},
	"metadata.operator":                           {"operator.name", false, quoted},
	"metadata.organization":                       {"operator.name", false, quoted},
	"disposition.delayFactor":                     {"politeness.delay_factor", true, decimal},
	"disposition.minDelayMs":                      {"politeness.min_delay", true, milliseconds},
	"disposition.maxDelayMs":                      {"politeness.max_delay", true, milliseconds},
	"disposition.respectCrawlDelayUpToSeconds":    {"politeness.crawl_delay_up_to", true, seconds},
	"queueAssignmentPolicy.parallelQueues":        {"politeness.valence", true, whole},
	"preconditions.robotsValidityDurationSeconds": {"robots.wait", true, seconds},
	"frontier.maxOutlinks":                        {"scope.max_links", true, whole},
	"hops.maxHops":                                {"scope.max_hops", true, count},
	"transclusion.maxTransHops":                   {"scope.max_embed_hops", true, count},
	"transclusion.maxSpeculativeHops":             {"scope.max_speculative_hops", true, count},
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

// kinds are the beans with settings to convert, by the end of their class: jobs give them other names, and classes of
// their own.
var kinds = []struct{ suffix, id string }{
	{"WARCWriterProcessor", "warcWriter"},
	{"WARCWriterChainProcessor", "warcWriter"},
	{"BdbModule", "bdb"},
	{"OutbackCDXClient", "outbackCDXClient"},
	{"FetchHTTP", "fetchHttp"},
	{"DispositionProcessor", "disposition"},
	{"QuotaEnforcer", "quotaEnforcer"},
	{"QueueAssignmentPolicy", "queueAssignmentPolicy"},
	{"BdbFrontier", "frontier"},
	{"LoggerModule", "loggerModule"},
	{"CrawlController", "crawlController"},
	{"CrawlMetadata", "metadata"},
	{"PreconditionEnforcer", "preconditions"},
	{"DiskSpaceMonitor", "diskSpaceMonitor"},
	{"Preselector", "preselector"},
	{"TooManyHopsDecideRule", "hops"},
	{"TransclusionDecideRule", "transclusion"},
	{"SurtPrefixedDecideRule", "surts"},
}

// ignored lists properties without meaning here.
var ignored = map[string]bool{"metadata.jobName": true, "metadata.description": true}

func contact(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") && !strings.Contains(s, "@") {
		return "", fmt.Errorf("%q is neither a web address nor an e-mail address: write operator.contact", s)
	}
	return quoted(s)
}

func count(s string) (string, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return "", fmt.Errorf("%q is not a number", s)
	}
	return strconv.Itoa(n), nil
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

// withDefault matches an expression of Spring with a default: #{systemEnvironment['X'] ?: 'value'} or ${x:value}.
var withDefault = regexp.MustCompile(`#\{[^{}]*\?:\s*(?:'([^']*)'|"([^"]*)"|([^\s'"{}]+))\s*\}|\$\{[^:{}]+:([^{}]*)\}`)

// withoutDefault matches what only the running job knows.
var withoutDefault = regexp.MustCompile(`[#$%]\{`)

// expand replaces the expressions in a text by their defaults. It reports whether there were any, and whether all had a
// default.
func expand(text string) (value string, expanded, complete bool) {
	text = strings.TrimSpace(text)
	value = withDefault.ReplaceAllString(text, "$1$2$3$4")
	return value, value != text, !withoutDefault.MatchString(value)
}

// harmless lists settings that do not change what is crawled or archived: whole beans, which end with a dot, properties
// with any value, and properties with a value that means the same here.
var harmless = []string{
	"metadata.audience", "metadata.operatorFrom", "loggerModule.", "statisticsTracker.", "bdb.", "checkpointService.",
	"actionDirectory.", "seeds.source", "outbackCDXClient.", "fetchDns.digest", "fetchDns.enabled=true",
	"fetchHttp.digest", "fetchHttp.enabled=true", "fetchHttp.maxFetchKBSec=0", "fetchHttp.httpBindAddress=",
	"fetchHttp.httpProxyHost=", "fetchHttp.httpProxyPort=0", "fetchHttp.sendConnectionClose", "fetchHttp.sendRange=false",
	"extractorHttp.enabled=true", "extractorHtml.enabled=true", "extractorCss.enabled=true", "extractorJs.enabled=true",
	"extractorSwf.enabled=true", "preselector.enabled=true", "preselector.logToFile", "preselector.recheckScope=true",
	"preselector.blockAll=false", "preselector.blockByRegex=", "preselector.allowByRegex=", "preconditions.enabled=true",
	"preconditions.ipValidityDurationSeconds", "preconditions.calculateRobotsOnly=false",
	"disposition.maxPerHostBandwidthUsageKbSec=0", "crawlController.recorder", "crawlController.scratchDir",
	"crawlController.pauseAt", "crawlController.runWhileEmpty=true", "crawlLimiter.maxBytesDownload=0",
	"crawlLimiter.maxDocumentsDownload=0", "crawlLimiter.maxTimeSeconds=0", "frontier.recoveryLogEnabled",
	"frontier.balanceReplenishAmount", "frontier.dumpPendingAtClose", "frontier.queueTotalBudget=-1",
	"queueAssignmentPolicy.forceQueueAssignment=", "queueAssignmentPolicy.deferToPrevious=true",
	"warcWriter.compress=true", "warcWriter.pool", "warcWriter.storePaths", "warcWriter.skipIdenticalDigests=false",
	"warcWriter.maxTotalBytesToWrite=0", "scope.logToFile", "diskSpaceMonitor.monitor", "surts.seedsAsSurtPrefixes",
}

// isHarmless reports whether a setting does not change what is crawled or archived.
func isHarmless(path, value string) bool {
	if strings.HasPrefix(path, "quotaEnforcer.") && (value == "-1" || value == "false") {
		return true
	}
	return slices.ContainsFunc(harmless, func(h string) bool {
		name, with, one := strings.Cut(h, "=")
		if one {
			return path == name && value == with
		}
		return strings.HasPrefix(path, name)
	})
}
