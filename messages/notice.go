package messages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// notice announces that an alarm was raised or cleared. It is the body of a webhook, see docs/alarms.md.
type notice struct {
	api.Alarm
	Raised bool      `json:"raised"` // false: cleared
	At     time.Time `json:"at"`

	Instance    string   `json:"instance"`         // admin.instance, or operator.name
	Institution string   `json:"institution"`      // operator.name
	Node        string   `json:"node,omitempty"`   // of a cluster
	Labels      []string `json:"labels,omitempty"` // of the host
	Collections []string `json:"collections,omitempty"`
	Owners      []string `json:"owners,omitempty"`
	Link        string   `json:"link,omitempty"` // to the page of the dashboard about it
}

// Words returns the notice as a sentence.
func (n notice) Words() string {
	if n.Raised {
		return n.Text
	}
	return "cleared: " + n.Text
}

// Source returns the name of the program and of the crawl that the notice is from, and in a cluster of the node.
func (n notice) Source() string {
	source := sourceName(cmp.Or(n.Instance, n.Institution))
	if n.Node != "" {
		source += ", node " + n.Node
	}
	return source
}

// sourceName returns the name of the program and of an instance.
func sourceName(instance string) string { return strings.TrimSpace("arcrawl " + instance) }

// Names returns the labels, collections and owners of the host. Recipients are chosen by them.
func (n notice) Names() []string { return slices.Concat(n.Labels, n.Collections, n.Owners) }

// notices returns the announcements of changed alarms. c is the configuration in force.
func notices(c *config.Config, changes []alarm.Change, now time.Time) []notice {
	list := make([]notice, len(changes))
	for i, x := range changes {
		list[i] = notice{
			Alarm: x.Alarm, Raised: x.Raised, At: now.UTC(), Instance: c.Instance(),
			Institution: c.Operator.Name, Link: dashboardLink(c.Admin.URL, x.Alarm),
		}
		if c.Cluster.Database != "" {
			list[i].Node = c.Cluster.Node
		}
		if x.Host != "" {
			site := c.Site(uri.Host(x.Host))
			list[i].Labels, list[i].Collections, list[i].Owners = site.Labels, site.Collections, site.Owners
		}
	}
	return list
}

// dashboardLink returns the address of the page about an alarm; "" if the address of the dashboard is not known.
func dashboardLink(base string, a api.Alarm) string {
	switch {
	case base == "":
		return ""
	case strings.Contains(a.About, "://"):
		return base + "#/uri?u=" + url.QueryEscape(a.About)
	case a.Host != "":
		return base + "#/host/" + url.PathEscape(a.Host)
	}
	return base
}
