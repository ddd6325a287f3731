// This file holds the table "subscription": who gets which changes of pages, by mail or at a webhook.

package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// subscriptionTable is the name of the table of a subscription.
const subscriptionTable = "subscription"

// The bounds of subscriptions.
const (
	maxSubscriptions = 100
	maxSubscribers   = 20 // addresses of a subscription
)

// Subscription says who gets which changes of pages.
type Subscription struct {
	Name    string
	Filter           // of hosts
	Host    string   // "" = all
	Kinds   []string // of changes; none = all that a reader sees in the page itself
	Removed int      // minimum number of words that the article lost
	Series  []string // of WARC files, whose changes are sent although they are under an embargo

	Mail    []string      // addresses that get a digest
	Every   time.Duration // from one digest to the next
	At      string        // time of day in UTC at which one of the digests comes
	Webhook string        // address that gets each change; "" = none
}

// writtenSubscription is a subscription, and its place in the main file.
type writtenSubscription struct {
	Subscription
	doc  *schema.Document
	path schema.Path
}

// ChangeKinds returns the kinds of changes, the most important one first.
func ChangeKinds() []string {
	return []string{
		"withdrawn", "moved", "wall", "returned", "headline", "text", "links", "pictures", "around", "nothing",
	}
}

// Due returns the last time up to now at which a digest comes. Digests come at the time of day and whole periods before
// and after it, counted from a Monday.
func (s Subscription) Due(now time.Time) time.Time {
	begin := time.Date(1970, 1, 5, 0, 0, 0, 0, time.UTC) // a Monday
	if at, err := time.Parse("15:04", s.At); err == nil {
		begin = begin.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
	}
	return begin.Add(now.Sub(begin) / s.Every * s.Every)
}

// newSubscription returns a subscription that sets nothing.
func newSubscription() Subscription { return Subscription{Every: schema.Day, At: "07:00"} }

// subscriptionKeys are the keys of each [[subscription]].
func (d *draft) subscriptionKeys() []schema.Var {
	s := &d.subscription
	isKind := func(s string) bool { return slices.Contains(ChangeKinds(), s) }
	return []schema.Var{
		schema.Needed(schema.String("subscription.name", InMain, checkSubscription, &s.Name,
			"Its own name. With another one it begins again. Required.")),
		schema.Optional("subscription.label", InMain, CheckName, &s.Label, "Only hosts with this label."),
		schema.Optional("subscription.collection", InMain, CheckName, &s.Collection, "Only hosts of this collection."),
		schema.Optional("subscription.owner", InMain, CheckName, &s.Owner, "Only hosts of this owner."),
		schema.Optional("subscription.host", InMain, checkHost, &s.Host, "Only this host."),
		schema.Strings("subscription.kinds", InMain, "kinds", schema.Accept(isKind, "is not a kind of change",
			"write one of "+strings.Join(ChangeKinds(), ", ")), &s.Kinds,
			"Only these kinds of `arcrawl changes`. Empty: all except `around`, `nothing`."),
		schema.Count("subscription.removed", InMain, 0, 1_000_000, &s.Removed,
			"Minimum number of words that the article lost."),
		schema.Strings("subscription.series", InMain, "names", checkSeries, &s.Series,
			"Series whose changes are sent even under an embargo."),
		schema.Secretly(schema.Strings("subscription.mail", InMain, "addresses", checkMailAddress, &s.Mail,
			"At most 20 addresses.")),
		schema.Interval("subscription.every", InMain, 15*time.Minute, 31*schema.Day, &s.Every,
			"Time between two mails. `\"7d\"`: each Monday."),
		schema.String("subscription.at", InMain, checkTime, &s.At, "Time of day in UTC."),
		schema.Secretly(schema.Optional("subscription.webhook", InMain, schema.CheckWebhook, &s.Webhook,
			"Address that gets changes as JSON by POST. Empty: none.")),
	}
}

// checkSubscription accepts the name of a subscription.
var checkSubscription = schema.Match(`^[\pL\pN][\pL\pN ._-]{0,63}$`,
	"is not a name", "write up to 64 letters, digits, blanks, - _ and ., a letter or digit first")

// checkHost accepts a host as a URI has it.
func checkHost(s string) (problem, remedy string) {
	h, problem, remedy := schema.ParseHost(s)
	if problem == "" && string(h) != s {
		return "is not how URIs write the host", fmt.Sprintf("write %q", h)
	}
	return problem, remedy
}

// readSubscription reads one [[subscription]].
func (r fileReader) readSubscription(path schema.Path, m map[string]any) {
	d := r.draft
	d.subscription = newSubscription()
	r.keys(subscriptionTable, path, m)
	d.config.Subscriptions = append(d.config.Subscriptions, d.subscription)
	d.subscriptions = append(d.subscriptions, writtenSubscription{d.subscription, r.doc, path})
}

// fault reports what is wrong with a key of the subscription, or with all of it.
func (s *writtenSubscription) fault(key, problem, remedy string) {
	s.doc.AddFault(s.finding(key, problem, remedy))
}

// finding returns a fault or warning. It shows no value, which may be secret.
func (s *writtenSubscription) finding(key, problem, remedy string) Fault {
	name := subscriptionTable
	if key != "" {
		name += "." + key
	}
	if path := s.path.Child(key); key != "" && s.doc.Has(path) {
		return s.doc.AtValue(path, Fault{Key: name, Problem: problem, Remedy: remedy})
	}
	return s.doc.AtKey(s.path, Fault{Key: name, Problem: problem, Remedy: remedy})
}

// checkSubscriptions reports subscriptions that contradict others or other keys.
func (l *loader) checkSubscriptions() {
	all := l.draft.subscriptions
	if len(all) > maxSubscriptions {
		all[maxSubscriptions].fault("", "is too much", "maximum: "+human.Count(maxSubscriptions, "subscription"))
	}
	for i := range all {
		s := &all[i]
		bad := func(key string) bool { return s.doc.IsBad(s.path.Child(key)) }
		same := func(other writtenSubscription) bool { return other.Name == s.Name }
		switch {
		case s.Name == "" && !bad("name"):
			s.fault("name", "is missing", `write for example name = "softened headlines"`)
		case s.Name != "" && slices.ContainsFunc(all[:i], same):
			s.fault("name", fmt.Sprintf("%q is the name of another subscription too", s.Name), "choose another name")
		}
		hasMail, hasHook := s.doc.Has(s.path.Child("mail")), s.doc.Has(s.path.Child("webhook"))
		switch {
		case !hasMail && !hasHook:
			s.fault("", "reaches nobody", `write mail = ["press@library.example"], or webhook = "https://…"`)
		case len(s.Mail) > maxSubscribers:
			s.fault("mail", fmt.Sprintf("has %d addresses", len(s.Mail)), fmt.Sprintf("maximum: %d", maxSubscribers))
		case len(s.Mail) > 0 && (l.config.Mail.Server == "" || l.config.Mail.From == ""):
			s.fault("mail", "needs a mail server", "set mail.server and mail.from in [mail]")
		}
		for _, name := range s.Series {
			if !slices.Contains(l.config.Series, name) {
				s.fault("series", fmt.Sprintf("has %q, which is not in warc.series_names", name), "correct or remove it")
			}
		}
		for _, key := range []string{"every", "at"} {
			if !hasMail && s.doc.Has(s.path.Child(key)) {
				s.doc.AddWarning(s.finding(key, "has no effect without mail", "write mail too, or remove it"))
			}
		}
	}
}

// warnSubscriptions warns of subscriptions that select no host.
func (l *loader) warnSubscriptions() {
	if len(l.config.Subscriptions) == 0 {
		return
	}
	known := l.config.Sites().Names()
	var hosts []uri.Host
	for _, s := range l.config.Seeds {
		hosts = append(hosts, s.URI.Host())
	}
	for _, f := range l.files {
		hosts = append(hosts, f.host)
	}
	for _, s := range l.draft.subscriptions {
		for _, x := range []struct {
			key, name string
			known     []string
		}{
			{"label", s.Label, known.Labels}, {"collection", s.Collection, known.Collections}, {"owner", s.Owner, known.Owners},
		} {
			if x.name != "" && !slices.Contains(x.known, x.name) {
				remedy := "correct it, or write it into a host file"
				if near, ok := schema.Nearest(x.name, x.known); ok {
					remedy = fmt.Sprintf("did you mean %q?", near)
				}
				s.doc.AddWarning(s.finding(x.key, fmt.Sprintf("%q is in no host file, so nothing is sent", x.name), remedy))
			}
		}
		if s.Host == "" || slices.Contains(hosts, uri.Host(s.Host)) {
			continue
		}
		remedy := "correct it, or add a seed"
		if near := nearest(s.Host, hosts); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", near)
		}
		l.config.unreached = append(l.config.unreached, unreached{uri.Host(s.Host), s.finding("host",
			fmt.Sprintf("%q is no host of a seed, and the crawl knows no such host, so nothing is sent", s.Host), remedy)})
	}
}
