package messages

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// alarmMail returns the subject and body of a mail about raised and cleared alarms.
func alarmMail(list []notice) (subject, body string) {
	var b strings.Builder
	raised := 0
	for _, n := range list {
		word := "CLEARED"
		if n.Raised {
			word = "RAISED"
			raised++
		}
		fmt.Fprintf(&b, "%s  %s  %s\n%s\n", word, n.Kind, clock(n.At), n.Text)
		if n.Host != "" {
			fmt.Fprintf(&b, "host: %s\n", human.Host(n.Host))
			for _, line := range []struct {
				what string
				list []string
			}{{"owner", n.Owners}, {"collections", n.Collections}} {
				if len(line.list) > 0 {
					fmt.Fprintf(&b, "%s: %s\n", line.what, oneLine(strings.Join(line.list, ", ")))
				}
			}
		}
		if n.Link != "" {
			fmt.Fprintf(&b, "%s\n", n.Link)
		}
		b.WriteString("\n")
	}
	first := list[0]
	subject = fmt.Sprintf("%s: %s: %s", first.Source(), first.Kind, oneLine(first.Words()))
	if len(list) > 1 {
		subject = fmt.Sprintf("%s: %s raised, %d cleared", first.Source(), human.Count(raised, "alarm"), len(list)-raised)
	}
	return subject, b.String() + footer(first.Instance, first.Institution)
}

// summary holds the data of a digest.
type summary struct {
	Institution string // operator.name
	Link        string // to the dashboard; "" if it is not known
	Status      api.Status
	Recent      []notice                   // raised and cleared lately
	Names       func(host string) []string // labels, collections and owners of a host
	Title       func(host string) string   // of a host; "" if it has none

	Short      []api.HostPace // hosts that do not meet their capture targets
	ShortError string         // why Short is not known
}

// digestMail returns the subject and body of the daily or weekly mail to a recipient.
func digestMail(s summary, n *news) (subject, body string) {
	to := n.To
	var b strings.Builder
	var raised, silence []api.Alarm
	for _, a := range s.Status.Alarms {
		if concerns(to, a.Host, s.Names(a.Host)) {
			if silent(a) {
				silence = append(silence, a)
			} else {
				raised = append(raised, a)
			}
		}
	}
	about := ""
	if to.Label != "" {
		about = ", " + to.Label
	}
	source := sourceName(s.Status.Instance)
	subject = fmt.Sprintf("%s%s: %s, %s, %s", source, about, s.Status.Condition.State,
		human.Count(len(raised)+len(silence), "alarm"), human.Count(n.versions, "new version"))
	fmt.Fprintf(&b, "State at %s: %s\n", clock(s.Status.Now), s.Status.Condition.State)
	if s.Status.Condition.Why != "" {
		fmt.Fprintf(&b, "Reason: %s\n", s.Status.Condition.Why)
	}
	if to.Label == "" {
		day := s.Status.LastDay
		fmt.Fprintf(&b, "Last day: %s, %s, %d unchanged, %d failed, %d refused; %s received, %s archived\n",
			human.Count(day.Visits, "visit"), human.Count(day.Versions, "version"), day.Unchanged, day.Failed, day.Refused,
			human.Bytes(day.Received), human.Bytes(day.Written))
		due := "the due ones are not counted yet"
		if s.Status.URIs.Due >= 0 {
			due = fmt.Sprintf("of which %d are due", s.Status.URIs.Due)
		}
		fmt.Fprintf(&b, "Hosts: %d, of which %d are unreachable. URIs: %d, %s.\n",
			s.Status.Hosts.Known, s.Status.Hosts.Down, s.Status.URIs.Known, due)
	}
	n.write(&b, s)
	writeAlarms(&b, "Silent sites", silence)
	s.writeShort(&b, to)
	writeAlarms(&b, "Other raised alarms", raised)
	other := func(x notice) bool { return !x.At.After(n.Since) || !concerns(to, x.Host, x.Names()) }
	recent := slices.DeleteFunc(slices.Clone(s.Recent), other)
	fmt.Fprintf(&b, "\nRaised and cleared since the last digest: %d\n", len(recent))
	bounded(&b, recent, func(x notice) { fmt.Fprintf(&b, "- %s  %s\n", clock(x.At), x.Words()) })
	b.WriteString("\n")
	if s.Link != "" {
		b.WriteString(s.Link + "\n")
	}
	return subject, b.String() + footer(s.Status.Instance, s.Institution)
}

// writeAlarms writes a list of raised alarms, and who acknowledged them.
func writeAlarms(b *strings.Builder, heading string, list []api.Alarm) {
	fmt.Fprintf(b, "\n%s: %d\n", heading, len(list))
	bounded(b, list, func(a api.Alarm) {
		fmt.Fprintf(b, "- since %s: %s\n", clock(a.Since), a.Text)
		if k := a.Acknowledged; k != nil {
			fmt.Fprintf(b, "  acknowledged by %s %s\n", k.Who, k.Note)
		}
	})
}

// footer returns the end of each mail, which names the crawl that sent it.
func footer(instance, institution string) string {
	return "--\n" + origin(instance, institution, "[mail]") + "\n"
}

// origin names the crawl that sent a mail, and the settings that say so.
func origin(instance, institution, settings string) string {
	if instance == institution {
		instance = ""
	}
	return fmt.Sprintf("%s of %s. The settings of these mails are in %s of the configuration.",
		sourceName(instance), institution, settings)
}

// clock returns a time for people, in UTC.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
