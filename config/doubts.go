// This file finds settings that are valid, but that hardly anybody wants: they overload a public host, apply to
// nothing, or name what is not fetched.

package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// unreached is a host without a seed or feed, and the warning about what names it.
type unreached struct {
	host    uri.Host
	warning Fault
}

// Doubts returns all warnings about the configuration: [Config.Warnings], what has expired, and the host files that
// apply to nothing. knows reports whether the crawl knows a host that matches a pattern of [frontier.HostMatches]; nil
// means that it knows none.
func (c *Config) Doubts(now time.Time, knows func(pattern string) bool) []Fault {
	all := slices.Concat(c.Warnings, c.Expired(now))
	for _, u := range c.unreached {
		if knows == nil || !knows("*."+string(u.host)) {
			all = append(all, u.warning)
		}
	}
	return all
}

// warnDoubts warns of settings that are valid, but that hardly anybody wants.
func (l *loader) warnDoubts() {
	l.warnHostFiles()
	l.warnSubscriptions()
	if c := l.config.Cluster; c.isExposed() && c.Insecure {
		const name = "cluster.insecure_database"
		l.main.AddWarning(l.main.AtKey(rootKey(name), Fault{
			Key: name, Problem: "lets others in the network read and change what the nodes and the database send each other",
			Remedy: "add ?sslmode=verify-full to cluster.database, with a certificate on the server",
		}))
	}
	publicSeed := func(s Seed) bool { return isPublic(s.URI.Hostname()) }
	for _, f := range l.all() {
		expressions(f.doc, "", f.host, nil)
		for _, w := range f.draft.whens {
			expressions(w.doc, w.path, f.host, w.criteria.URI)
		}
		public := isPublic(hostname(f.host))
		if f.host == "" {
			public = slices.ContainsFunc(l.config.Seeds, publicSeed)
		}
		if public {
			f.draft.warnPoliteness(f.doc)
		}
	}
}

// warnPoliteness warns of a file, and of its refinements, that would overload public hosts.
func (d *draft) warnPoliteness(doc *schema.Document) {
	warn := func(path schema.Path, s *Settings) {
		problem := overload(s.Politeness.Politeness, max(s.Politeness.Valence, 1))
		for _, name := range []string{"min_delay", "delay_factor", "valence", "max_delay"} {
			if at, set := doc.Setting(path, "politeness."+name); set && problem != "" {
				at.Warn(problem, "set politeness.min_delay to 1s or more, unless the operator of the host agreed")
				return
			}
		}
	}
	warn("", d.settings)
	for _, w := range d.whens {
		warn(w.path, w.over(d, doc.Quiet()).settings)
	}
}

const (
	// usualAnswer is the supposed duration of an exchange.
	usualAnswer = 100 * time.Millisecond
	// maxPace is the number of requests a second to one host above which a politeness is absurd.
	maxPace = 5
)

// overload says how a politeness would overload a public host; "" if it would not.
func overload(p frontier.Politeness, valence int) string {
	rest := p.Rest(usualAnswer)
	rate := float64(valence) / (usualAnswer + rest).Seconds()
	switch {
	case rest <= 0:
		return "lets hosts no rest: each request follows the one before at once"
	case rate > maxPace:
		return fmt.Sprintf("allows about %.0f requests a second to one host (valence %d, a rest of %s after an answer of %s)",
			rate, valence, rest, usualAnswer)
	}
	return ""
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

// warnHostFiles warns of host files that set nothing, and collects those that apply to nothing.
func (l *loader) warnHostFiles() {
	var hosts []uri.Host
	for _, s := range l.config.Seeds {
		hosts = append(hosts, s.URI.Host())
	}
	for _, s := range l.config.Sources {
		hosts = append(hosts, s.URI.Host(), s.Seed.Host())
	}
	hosts, applies := files(hosts)
	for _, f := range l.files {
		switch {
		case f.host == "":
		case len(f.doc.Root) == 0:
			f.doc.AddWarning(Fault{
				Problem: "is empty: it lists no seed and sets nothing", Remedy: "restore its content, or remove the file",
			})
		case applies(f.host):
		case isSuffix(f.host):
			f.doc.AddWarning(Fault{
				Problem: fmt.Sprintf("applies to no host: anybody can register a name below %s, so nothing inherits from it", f.host),
				Remedy:  "name the file after a host, for example www.news." + string(f.host) + ".toml",
			})
		default:
			warning := Fault{
				File:    f.doc.File,
				Problem: fmt.Sprintf("applies to nothing so far: no seed or feed is on %s or below, and the crawl knows no such host", f.host),
				Remedy:  "add a seed to the file, correct its name, or remove it",
			}
			if near := nearest(string(f.host), hosts); near != "" {
				warning.Remedy = fmt.Sprintf("did you mean %s.toml?", near)
			}
			l.config.unreached = append(l.config.unreached, unreached{f.host, warning})
		}
	}
}

// nearest returns the host that differs from a name by at most two letters, or by a leading "www."; "" if none does.
func nearest(name string, hosts []uri.Host) string {
	for _, h := range hosts {
		other := string(h)
		if strings.TrimPrefix(other, "www.") == strings.TrimPrefix(name, "www.") || schema.Edits(name, other, false) <= 2 {
			return other
		}
	}
	return ""
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

// warnPace warns of seeds that are due more often than the politeness of their host allows.
func (l *loader) warnPace() {
	c := &l.config
	type load struct {
		seed  Seed
		count int
		rate  float64 // visits a second
	}
	loads := map[uri.Host]*load{}
	var order []uri.Host
	for _, s := range c.Seeds {
		h := s.URI.Host()
		if loads[h] == nil {
			loads[h] = &load{seed: s}
			order = append(order, h)
		}
		loads[h].count++
		loads[h].rate += 1 / shortestWait(c.ForHost(h, time.Time{}).Wait).Seconds()
	}
	for _, h := range order {
		p, at := c.ForHost(h, time.Time{}).Politeness, loads[h]
		allowed := float64(max(p.Valence, 1)) / max(p.MinDelay, time.Millisecond).Seconds()
		if at.rate <= allowed {
			continue
		}
		l.warnings = append(l.warnings, Fault{
			File: at.seed.File, Line: at.seed.Line, Column: 1, Key: "seeds.uris",
			Problem: fmt.Sprintf(
				"%s of %s can be due %.3g times a minute by wait.min, but politeness.min_delay %q permits at most %.3g visits",
				human.Count(at.count, "seed"), h, at.rate*60, human.Duration(p.MinDelay), allowed*60),
			Remedy: "raise wait.min, or lower min_delay if the site agrees; until then visits are late",
		})
	}
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
