package messages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

// The bounds of a digest. What is left out is counted.
const (
	maxSites = 20  // sites with new versions
	maxPages = 4   // new versions of a site
	maxLines = 100 // of every other list
	maxTitle = 160 // characters of a title
)

// news collects the new versions for the digest of one recipient.
type news struct {
	To    config.Recipient
	Since time.Time // the digest has what came later
	From  time.Time // older captures are not known any more; zero if all are

	versions, firsts int
	sites            map[string]*siteNews
}

// siteNews holds the new versions of a site.
type siteNews struct {
	versions int
	titled   []api.Capture // the newest with a title
	others   []api.Capture // the newest without one, which are listed only if no version has a title
}

// newNews returns the news for a recipient, who took the last digest at a given time; zero if there was none. They
// begin then, but not much longer ago than the usual time between two digests.
func newNews(to config.Recipient, last, now time.Time, grace time.Duration) *news {
	since := now.Add(-period(to))
	if !last.IsZero() {
		since = last
		if earliest := now.Add(-period(to) - grace); since.Before(earliest) {
			since = earliest
		}
	}
	return &news{To: to, Since: since, sites: map[string]*siteNews{}}
}

// Add adds a capture, if it is new and concerns the recipient. names are the labels, collections and owners of its
// host. Captures are added newest first.
func (n *news) Add(c api.Capture, names []string) {
	if c.Kind == api.CaptureChecked || !c.At.After(n.Since) || !concerns(n.To, c.Host, names) {
		return
	}
	s := n.sites[c.Host]
	if s == nil {
		s = new(siteNews)
		n.sites[c.Host] = s
	}
	n.versions++
	s.versions++
	if c.Kind == api.CaptureFirst {
		n.firsts++
	}
	list := &s.titled
	if c.Title == "" {
		list = &s.others
	}
	sameURI := func(x api.Capture) bool { return x.URI == c.URI }
	if len(*list) < maxPages && !slices.ContainsFunc(*list, sameURI) {
		*list = append(*list, c)
	}
}

// fillNews adds captures to the news of all recipients, and calls each once to read them. names returns the labels,
// collections and owners of a host.
func fillNews(
	all []*news, each func(since time.Time, use func(api.Capture)) (from time.Time), names func(host string) []string,
) {
	if len(all) == 0 {
		return
	}
	since := all[0].Since
	for _, n := range all {
		if n.Since.Before(since) {
			since = n.Since
		}
	}
	known := map[string][]string{}
	from := each(since, func(c api.Capture) {
		list, ok := known[c.Host]
		if !ok {
			list = names(c.Host)
			known[c.Host] = list
		}
		for _, n := range all {
			n.Add(c, list)
		}
	})
	for _, n := range all {
		n.From = from
	}
}

// write writes the sites with new versions, and the newest pages of each with links to the dashboard.
func (n *news) write(b *strings.Builder, s summary) {
	fmt.Fprintf(b, "\nNew versions since %s: %d, on %s; first captures among them: %d\n",
		clock(n.Since), n.versions, human.Count(len(n.sites), "site"), n.firsts)
	if n.From.After(n.Since) {
		fmt.Fprintf(b, "(Versions before %s are not counted, because there were too many.)\n", clock(n.From))
	}
	hosts := slices.SortedFunc(maps.Keys(n.sites), func(x, y string) int {
		return cmp.Or(n.sites[y].versions-n.sites[x].versions, strings.Compare(x, y))
	})
	for _, host := range hosts[:min(len(hosts), maxSites)] {
		site := n.sites[host]
		fmt.Fprintf(b, "- %s: %s\n", s.site(host), human.Count(site.versions, "version"))
		list := site.titled
		if len(list) == 0 {
			list = site.others
		}
		for _, c := range list {
			fmt.Fprintf(b, "  %s  %s\n    %s\n", clock(c.At), cmp.Or(plain(c.Title), "(no title)"), s.linkTo(c))
		}
	}
	if more := len(hosts) - maxSites; more > 0 {
		fmt.Fprintf(b, "- and %s\n", human.Count(more, "more site"))
	}
}

// site returns a host as people know it: with its title, if it has one.
func (s summary) site(host string) string {
	name := human.Host(host)
	if s.Title == nil {
		return name
	}
	if title := plain(s.Title(host)); title != "" {
		return title + " (" + name + ")"
	}
	return name
}

// base returns the address of the dashboard with a slash at its end; "" if it is not known.
func (s summary) base() string {
	if s.Link == "" {
		return ""
	}
	return strings.TrimSuffix(s.Link, "/") + "/"
}

// linkTo returns the address of a version in the dashboard. Without a dashboard it is the URI.
func (s summary) linkTo(c api.Capture) string {
	if s.Link == "" {
		return c.URI
	}
	return s.base() + c.Path()
}

// writeShort writes the sites of a recipient that do not meet their capture targets.
func (s summary) writeShort(b *strings.Builder, to config.Recipient) {
	other := func(p api.HostPace) bool { return !concerns(to, p.Host, s.Names(p.Host)) }
	list := slices.DeleteFunc(slices.Clone(s.Short), other)
	if s.ShortError != "" {
		fmt.Fprintf(b, "\nMissed capture targets: not known, %s\n", s.ShortError)
		return
	}
	fmt.Fprintf(b, "\nMissed capture targets: %d\n", len(list))
	bounded(b, list, func(p api.HostPace) { fmt.Fprintf(b, "- %s: %s\n", s.site(p.Host), plain(p.Promise)) })
}

// bounded writes the first elements of a list, and how many there are besides.
func bounded[E any](b *strings.Builder, list []E, write func(E)) {
	for _, e := range list[:min(len(list), maxLines)] {
		write(e)
	}
	if more := len(list) - maxLines; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
}

// silent reports whether an alarm is about a site with nothing new for unusually long.
func silent(a api.Alarm) bool { return a.Kind == alarm.Silence || a.Kind == alarm.FrontPage }

// plain returns a text of a stranger as one short line, without characters that change how the text around it is shown.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = oneLine(text)
	if runes := []rune(text); len(runes) > maxTitle {
		text = string(runes[:maxTitle]) + "…"
	}
	return text
}
