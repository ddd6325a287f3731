// This file finds settings that are valid, but that hardly anybody wants: they overload a public host, apply to
// nothing, or name what is not fetched. Each function returns the problem and the remedy of a warning. An empty problem
// means that there is nothing to say.

package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// usualAnswer is the supposed duration of an exchange.
	usualAnswer = 100 * time.Millisecond
	// maxPace is the number of requests a second to one host above which a politeness is absurd.
	maxPace = 5
)

// DoubtPace warns of a politeness that would overload a public host.
func DoubtPace(p frontier.Politeness, valence int) (problem, remedy string) {
	rest := p.Rest(usualAnswer)
	rate := float64(max(valence, 1)) / (usualAnswer + rest).Seconds()
	const ask = "set politeness.min_delay to 1s or more, unless the operator of the host agreed"
	switch {
	case rest <= 0:
		return "lets hosts no rest: each request follows the one before at once", ask
	case rate > maxPace:
		return fmt.Sprintf("allows about %.0f requests a second to one host (valence %d, a rest of %s after an answer of %s)",
			rate, max(valence, 1), rest, usualAnswer), ask
	}
	return "", ""
}

// isPublic reports whether a host may be a public one: it is no address and no name of a private network.
func isPublic(host string) bool {
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return fetch.IsPublic(ip)
	}
	return !isPrivateName(host)
}

// privateNames are the domains of which public servers know nothing.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home.arpa", "corp", "private"}

func isPrivateName(host string) bool {
	return !strings.Contains(host, ".") || slices.ContainsFunc(privateNames, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

// DoubtSeed warns of a seed that will not be fetched, because its address is private and no network in allow has it.
func DoubtSeed(u uri.URI, allow []netip.Prefix) (problem, remedy string) {
	host := strings.Trim(u.Hostname(), "[]")
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && !fetch.IsPublic(ip):
		if !allowed(ip, allow) {
			return "is at a private address, which is not fetched",
				fmt.Sprintf("add its network to fetch.allow_networks, for example %q", netip.PrefixFrom(ip, ip.BitLen()))
		}
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		if !allowed(netip.AddrFrom4([4]byte{127, 0, 0, 1}), allow) && !allowed(netip.IPv6Loopback(), allow) {
			return "is on this machine, which is not fetched", `add "127.0.0.0/8" and "::1/128" to fetch.allow_networks`
		}
	case err != nil && isPrivateName(host) && len(allow) == 0:
		return "is a name of a private network, whose addresses are not fetched",
			"add the network to fetch.allow_networks"
	}
	return "", ""
}

func allowed(ip netip.Addr, allow []netip.Prefix) bool {
	return slices.ContainsFunc(allow, func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) })
}

// DoubtHostFile warns of a host file that probably applies to nothing. sets reports whether the file has any key, and
// covered whether it applies to a host with a seed or feed. seeds are these hosts, each once.
func DoubtHostFile(host uri.Host, sets bool, seeds []uri.Host, covered bool) (problem, remedy string) {
	if !sets {
		return "is empty: it lists no seed and sets nothing", "restore its content, or remove the file"
	}
	if covered {
		return "", ""
	}
	if suffix, _ := publicsuffix.PublicSuffix(string(host)); suffix == string(host) {
		return fmt.Sprintf("applies to no host: anybody can register a name below %s, so nothing inherits from it", host),
			"name the file after a host, for example www.news." + string(host) + ".toml"
	}
	problem = fmt.Sprintf("applies to nothing so far: no seed or feed is on %s or below, and the crawl knows no such host", host)
	if near := nearest(string(host), seeds); near != "" {
		return problem, fmt.Sprintf("did you mean %s.toml?", near)
	}
	return problem, "add a seed to the file, correct its name, or remove it"
}

// nearest returns the host that differs from a name by at most two letters, or by a leading "www."; "" if none does.
func nearest(name string, hosts []uri.Host) string {
	for _, h := range hosts {
		other := string(h)
		if strings.TrimPrefix(other, "www.") == strings.TrimPrefix(name, "www.") || edits(name, other) <= 2 {
			return other
		}
	}
	return ""
}

// cautionMaxName bounds the names that are compared, in bytes.
const cautionMaxName = 253

// edits returns the Levenshtein distance of two names.
func edits(a, b string) int {
	if max(len(a), len(b)) > cautionMaxName {
		return cautionMaxName
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// DoubtSeeds warns of a host whose n seeds are due at a rate in visits a second that is more than its politeness
// allows.
func DoubtSeeds(h uri.Host, n int, rate float64, minDelay time.Duration, valence int) (problem, remedy string) {
	allowed := float64(max(valence, 1)) / max(minDelay, time.Millisecond).Seconds()
	if rate <= allowed {
		return "", ""
	}
	return fmt.Sprintf(
		"%s of %s can be due %.3g times a minute by wait.min, but politeness.min_delay %q permits at most %.3g visits",
		human.Count(n, "seed"), h, rate*60, human.Duration(minDelay), allowed*60,
	), "raise wait.min, or lower min_delay if the site agrees; until then visits are late"
}

// shortestWait returns the minimum wait of an HTML page; a year if no rule applies to it.
func shortestWait(s evaluators.Stack) time.Duration {
	for _, e := range s {
		if e.MIME.MatchString("text/html") {
			shortest, _ := e.Rule.Bounds()
			return max(shortest, time.Millisecond)
		}
	}
	return 365 * 24 * time.Hour
}
