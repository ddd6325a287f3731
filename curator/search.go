package curator

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of a search.
const (
	maxHosts      = 20
	maxSearchText = 200                    // bytes of the text
	searchTime    = 120 * time.Millisecond // how long one answer is searched for, so that it takes less than 200 ms
	titleTime     = 40 * time.Millisecond  // of it for the titles of captures
	searchStep    = 1000                   // rows of the frontier that are read between two looks at the clock
)

// atBegin is the cursor behind a URI that is exactly the text, if there was room for no other.
const atBegin = "begin"

// searchQuery holds the parameters of a search.
type searchQuery struct {
	Text   string // part of a URI
	Host   string // only this host
	Cursor string // where the last answer ended; empty at the beginning
	Limit  int
	Chosen func(uri.Host) bool // only these hosts; nil = all

	Embargo config.Embargo // that the asking person has to keep
}

// chooses reports whether URIs of a host are searched.
func (q searchQuery) chooses(h uri.Host) bool { return q.Chosen == nil || q.Chosen(h) }

// finds reports whether a URI may be found: the text may be in its title, which may be under an embargo.
func (q searchQuery) finds(r frontier.Record) bool {
	return q.chooses(r.URI.Host()) && !q.Embargo.Keeps(r.URI.String(), r.ContentType)
}

// search returns hosts and URIs with a text in them. It reads URIs until it has enough, or for a bounded time; the
// answer then says where to continue. The first answer also has captures with the text in their titles.
func search(f *frontier.Frontier, titles *captureStore, q searchQuery, now func() time.Time) (Found, error) {
	out := Found{URIs: []FoundURI{}, Hosts: []string{}, Titles: []api.Capture{}}
	text := strings.ToLower(strings.TrimSpace(q.Text))
	text = strings.ToValidUTF8(text[:min(len(text), maxSearchText)], "") // the cut may divide a character
	began := now()
	if q.Cursor == "" && q.Host == "" {
		out.Hosts = hostsWith(f, text, q, began)
	}
	if q.Cursor == "" {
		var since time.Time
		sites := func(host string) bool { return q.chooses(uri.Host(host)) }
		of := captureFilter{Text: text, Host: q.Host, Sites: sites, Limit: q.Limit, Embargo: q.Embargo}
		out.Titles, since = titles.Titled(of, titleTime, now)
		out.TitlesSince = api.Moment(since)
	}
	part := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
	sel := frontier.Selection{Host: q.Host, Match: part, Titles: part, Step: searchStep}
	if u, err := uri.Parse(q.Text); err == nil && q.Cursor == "" {
		if r, known, err := f.Get(u); err != nil {
			return out, err
		} else if known && q.finds(r) {
			out.URIs = append(out.URIs, foundURI(r))
		}
	}
	cursor := frontier.Cursor(q.Cursor)
	if q.Cursor == atBegin {
		cursor = ""
	}
	if len(out.URIs) >= q.Limit {
		out.Next = atBegin
		return out, nil
	}
	for {
		list, next, err := f.List(began, sel, cursor, q.Limit-len(out.URIs))
		if err != nil {
			return out, err
		}
		for _, e := range list {
			if x := foundURI(e.Record); q.finds(e.Record) && !slices.Contains(out.URIs, x) {
				out.URIs = append(out.URIs, x)
			}
		}
		cursor = next
		if next == "" || len(out.URIs) >= q.Limit || now().Sub(began) > searchTime {
			out.Next = string(cursor)
			return out, nil
		}
	}
}

func foundURI(r frontier.Record) FoundURI {
	return FoundURI{URI: r.URI.String(), Title: r.Title, Visits: r.Visits, Versions: r.Versions, Type: r.ContentType}
}

// hostsWith returns the hosts with a text in their name.
func hostsWith(f *frontier.Frontier, text string, q searchQuery, now time.Time) []string {
	hosts := []string{}
	for _, v := range f.Hosts(now) {
		if len(hosts) < maxHosts && strings.Contains(string(v.Host), text) && q.chooses(v.Host) {
			hosts = append(hosts, string(v.Host))
		}
	}
	return hosts
}

// maxSeeds is the maximum number of seeds and sources of a site that are listed.
const maxSeeds = 200

// siteOf describes a host: what curators wrote about it, its seeds, feeds and sitemaps with their next
// visits, the settings that files set, and when its pages change.
func siteOf(
	c *config.Config, f *frontier.Frontier, known *captureStore, h uri.Host, now func() time.Time,
) (SiteDetails, error) {
	out := SiteDetails{About: c.Site(h), Seeds: []SiteURI{}, Settings: []api.Setting{}, Hours: known.Hours(string(h))}
	described := c.Sites().Seeds
	add := func(u uri.URI, kind string) error {
		if u.Host() != h || len(out.Seeds) >= maxSeeds {
			return nil
		}
		r, known, err := f.Get(u)
		x := SiteURI{URI: u.String(), Kind: kind}
		if known {
			x = siteURI(r, kind)
		}
		x.About = described[u]
		out.Seeds = append(out.Seeds, x)
		return err
	}
	for _, s := range c.Seeds {
		kind := "section"
		if s.URI.Path() == "/" {
			kind = "front page"
		}
		if err := add(s.URI, kind); err != nil {
			return out, err
		}
	}
	for _, s := range c.Sources {
		if err := add(s.URI, "feed or sitemap"); err != nil {
			return out, err
		}
	}
	for _, s := range c.EffectiveHost(h, now()) {
		if s.File != "" {
			out.Settings = append(out.Settings, api.Setting{Key: s.Key, Value: s.Value, Origin: s.Origin()})
		}
	}
	var err error
	out.Complete, err = out.addFound(f, h, now)
	return out, err
}

// siteURI describes a known URI. A source has the kind that its last visit found.
func siteURI(r frontier.Record, kind string) SiteURI {
	return SiteURI{
		URI: r.URI.String(), Title: r.Title, Kind: cmp.Or(crawler.SourceKind(r), kind), Due: api.Moment(r.Due),
		Out: crawler.KeptOut(r), LastVisit: api.Moment(r.LastVisit), LastChange: api.Moment(r.LastChange),
		Wait: api.Seconds(r.Wait), Rate: r.Rate, Visits: r.Visits, Versions: r.Versions,
	}
}

// addFound adds the feeds and sitemaps that pages or robots.txt name. It reads the URIs of the host for a bounded time,
// and reports whether it read all.
func (s *SiteDetails) addFound(
	f *frontier.Frontier, h uri.Host, now func() time.Time,
) (complete bool, err error) {
	listed := map[string]bool{}
	for _, x := range s.Seeds {
		listed[x.URI] = true
	}
	sel, cursor := frontier.Selection{Host: string(h), Step: searchStep}, frontier.Cursor("")
	for end := now().Add(searchTime); ; {
		rows, next, err := f.List(now(), sel, cursor, searchStep)
		if err != nil {
			return false, err
		}
		for _, e := range rows {
			if e.Source == "" || listed[e.URI.String()] || len(s.Seeds) >= maxSeeds {
				continue
			}
			if x := siteURI(e.Record, ""); x.Kind != "" {
				x.Found = true
				s.Seeds = append(s.Seeds, x)
			}
		}
		if cursor = next; next == "" || now().After(end) {
			return next == "", nil
		}
	}
}
