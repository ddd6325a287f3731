package alarm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// maxText is the number of bytes that are shown of what a program, a server or a stranger said.
const maxText = 500

// trouble returns a trouble with a text as of [fmt.Sprintf].
func trouble(kind, about, format string, args ...any) Trouble {
	return Trouble{Kind: kind, About: about, Text: fmt.Sprintf(format, args...)}
}

// ArchiveTroubles returns the troubles with finished archive files, and with the copies of the store in a database.
// That files are gone ends when they are back, when the operator says where they are, or declares them lost.
func ArchiveTroubles(a api.Archive) (list []Trouble) {
	if h := a.Handover; h.Since != nil {
		list = append(list, trouble(Sealed, "",
			"%s not taken since %s; the files stay in the archive, and the daemon tries again; the reason is: %s",
			human.Count(h.Waiting, "finished WARC file"), second(*h.Since), cut(h.Error)))
	}
	if lost := a.Lost; lost.Absent > 0 {
		list = append(list, trouble(Lost, "",
			"%s gone, such as %s; their payloads are archived again; bring them back, name their place in storage.elsewhere, "+
				"or declare them lost with arcrawl dedup lost FILE",
			human.Count(lost.Absent, "finished WARC file"), lost.Example))
	}
	if f := a.Fixity; f.Failed > 0 {
		list = append(list, trouble(Fixity, "",
			"%s not as sealed: %s; replace it by a sound copy, or declare it lost with arcrawl dedup lost FILE, and its "+
				"payloads are archived again", human.Count(f.Failed, "finished WARC file"), cut(f.Example)))
	}
	if o := a.Offload; o.Since != nil {
		list = append(list, trouble(Folders, "",
			"finished WARC files cannot be moved to storage.folders since %s; they stay, and the crawl pauses when the disk "+
				"is full; the reason is: %s", second(*o.Since), cut(o.Error)))
	}
	if u := a.Offload.Upload; u != nil && u.Since != nil {
		list = append(list, trouble(Upload, "",
			"%s not uploaded to %s since %s; the files stay in the archive, and the daemon tries again; the reason is: %s",
			human.Count(u.Waiting, "finished WARC file"), u.Bucket, second(*u.Since), cut(u.Error)))
	}
	if a.Database != "" {
		list = append(list, Trouble{Kind: Database, Text: a.Database})
	}
	return list
}

// documentLasts is how long a document that could not be processed is a trouble.
const documentLasts = 24 * time.Hour

// maxDocumentHosts bounds the hosts of which such documents are kept.
const maxDocumentHosts = maxOfKind

// Documents counts the documents that the program could not process. The zero value is empty. It is not safe for
// concurrent use.
type Documents struct {
	totals map[string]int64 // by kind of fault, since the start
	hosts  map[hostKind]*hostDocuments
}

// hostKind is a host and the kind of alarm: [Document] or [Rules].
type hostKind struct{ host, alarm string }

// hostDocuments holds the faults of one host.
type hostDocuments struct {
	visits   int64
	uri, why string // of the last one
	last     time.Time
}

// Add counts a visit whose document could not be processed.
func (d *Documents) Add(host, uri, kind, why string, at time.Time) {
	if d.totals == nil {
		d.totals, d.hosts = map[string]int64{}, map[hostKind]*hostDocuments{}
	}
	d.totals[kind]++
	key := hostKind{host, Document}
	if kind == Rules {
		key.alarm = Rules
	}
	h := d.hosts[key]
	if h == nil {
		if len(d.hosts) >= maxDocumentHosts {
			return
		}
		h = &hostDocuments{}
		d.hosts[key] = h
	}
	h.visits++
	h.uri, h.why, h.last = cut(uri), cut(why), at
}

// Totals returns the number of faults of each kind since the start.
func (d *Documents) Totals() map[string]int64 { return maps.Clone(d.totals) }

// Troubles returns the hosts with faults in the last day.
func (d *Documents) Troubles(now time.Time) (list []Trouble) {
	for key, h := range d.hosts {
		if now.Sub(h.last) > documentLasts {
			delete(d.hosts, key)
			continue
		}
		what, text := "visit", "%s of %s could not be processed, last %s: %s; only these URIs are affected; "+
			"please report this fault of the program"
		if key.alarm == Rules {
			what, text = "page", "%s of %s compared whole, last %s: %s"
		}
		list = append(list, trouble(key.alarm, key.host, text,
			human.Count(int(h.visits), what), human.Host(key.host), h.uri, h.why))
	}
	return list
}

// cut returns the beginning of a text.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// second returns a time for people, in UTC.
func second(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

const (
	gapLasts = 24 * time.Hour // how long a gap of a feed is a trouble
	maxGaps  = 1000
)

// Gaps holds when feeds may have lost entries, by URI. The zero value is empty. It is not safe for concurrent use.
type Gaps struct{ at map[string]time.Time }

// Add records that a feed may have lost entries.
func (g *Gaps) Add(feed string, at time.Time) {
	if g.at == nil {
		g.at = map[string]time.Time{}
	}
	if _, known := g.at[feed]; known || len(g.at) < maxGaps {
		g.at[feed] = at
	}
}

// Troubles returns one trouble for each host whose feeds lost entries in the last day.
func (g *Gaps) Troubles(now time.Time) []Trouble {
	type gap struct {
		feeds int
		last  string // URI of the feed that lost entries last
		at    time.Time
	}
	hosts := map[string]gap{}
	for feed, when := range g.at {
		if now.Sub(when) > gapLasts {
			delete(g.at, feed)
			continue
		}
		host := string(uri.FromCanonical(feed).Host())
		h := hosts[host]
		if h.feeds++; when.After(h.at) || when.Equal(h.at) && feed < h.last {
			h.last, h.at = feed, when
		}
		hosts[host] = h
	}
	list := make([]Trouble, 0, len(hosts))
	for host, h := range hosts {
		list = append(list, trouble(FeedGap, host,
			"%s of %s may have lost entries between two visits, the last one %s at %s; lower feeds.min for the host",
			human.Count(h.feeds, "feed"), human.Host(host), h.last, second(h.at)))
	}
	slices.SortFunc(list, func(a, b Trouble) int { return cmp.Compare(a.About, b.About) })
	return list
}
