package fleet

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// shownAlarms is the maximum number of alarms of one daemon that a page shows.
const shownAlarms = 5

// writeFleet writes the state of all daemons for people: a row for each, and below it what needs a person, and what the
// database of a cluster says of its nodes.
func writeFleet(out io.Writer, f api.Fleet) error {
	fmt.Fprintln(out, summary(f))
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "instance\tstate\thosts\tdown\tURIs\toverdue\tvisits/h\tversions/h\tfailed/h\tdisk free\talarms")
	for _, i := range f.Instances {
		s := i.Status
		if s == nil {
			fmt.Fprintf(t, "%s\tno answer%s\n", i.Name, strings.Repeat("\t–", 9))
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%s\t%d\n", i.Name, s.Condition.State, s.Hosts.Known, s.Hosts.Down,
			s.URIs.Known, overdue(s.URIs), s.LastHour.Visits, s.LastHour.Versions, s.LastHour.Failed, free(s.Disk),
			len(open(s.Alarms)))
	}
	writeSum(t, f)
	if err := t.Flush(); err != nil {
		return err
	}
	var trouble bytes.Buffer
	for _, i := range f.Instances {
		writeTrouble(&trouble, i)
	}
	if trouble.Len() > 0 {
		fmt.Fprintf(out, "\n%s", trouble.Bytes())
	}
	if f.Database == nil {
		return nil
	}
	fmt.Fprintln(out)
	return f.Database.Write(out)
}

// writeSum writes a row with the sums of all daemons that answer. Their disks may be the same.
func writeSum(out io.Writer, f api.Fleet) {
	var hosts, down, uris int64
	var oldest api.URICounts
	var hour api.Counts
	answers, alarms := 0, 0
	for _, i := range f.Instances {
		if s := i.Status; s != nil {
			answers++
			hosts, down, uris = hosts+s.Hosts.Known, down+s.Hosts.Down, uris+s.URIs.Known
			hour.Visits += s.LastHour.Visits
			hour.Versions += s.LastHour.Versions
			hour.Failed += s.LastHour.Failed
			alarms += len(open(s.Alarms))
			oldest.Overdue = max(oldest.Overdue, s.URIs.Overdue)
		}
	}
	if answers > 1 {
		fmt.Fprintf(out, "all\t\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t\t%d\n", hosts, down, uris, overdue(oldest), hour.Visits,
			hour.Versions, hour.Failed, alarms)
	}
}

// summary returns the first line of a page.
func summary(f api.Fleet) string {
	states := map[string]int{}
	var visits int64
	for _, i := range f.Instances {
		if i.Status == nil {
			states[noAnswer]++
			continue
		}
		states[i.Status.Condition.State]++
		visits += i.Status.LastHour.Visits
	}
	var parts []string
	for _, state := range []string{api.Crawling, api.Paused, api.Held, noAnswer} {
		if states[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", states[state], state))
		}
	}
	return fmt.Sprintf("%s: %s; %s in the last hour", human.Count(len(f.Instances), "instance"), strings.Join(parts, ", "),
		human.Count(visits, "visit"))
}

// noAnswer is the state of a daemon that does not answer.
const noAnswer = "no answer"

// writeTrouble writes why a daemon does not crawl or answer, and its alarms that nobody has acknowledged.
func writeTrouble(out *bytes.Buffer, i api.Instance) {
	s := i.Status
	if s == nil {
		fmt.Fprintf(out, "%s: %s: %s\n", i.Name, noAnswer, i.Error)
		return
	}
	if s.Condition.State != api.Crawling {
		fmt.Fprintf(out, "%s: %s: %s\n", i.Name, s.Condition.State, s.Condition.Why)
	}
	alarms := open(s.Alarms)
	for _, a := range alarms[:min(len(alarms), shownAlarms)] {
		fmt.Fprintf(out, "%s: ALARM since %s: %s\n", i.Name, a.Since.UTC().Format("2006-01-02 15:04 MST"), a.Text)
	}
	if more := len(alarms) - shownAlarms; more > 0 {
		fmt.Fprintf(out, "%s: %s more\n", i.Name, human.Count(more, "alarm"))
	}
}

// open returns the alarms that nobody has acknowledged.
func open(all []api.Alarm) (list []api.Alarm) {
	for _, a := range all {
		if a.Acknowledged == nil {
			list = append(list, a)
		}
	}
	return list
}

func overdue(u api.URICounts) string {
	if u.Overdue == 0 {
		return "–"
	}
	return human.About(time.Duration(u.Overdue))
}

func free(d api.Disk) string {
	if d.Free < 0 {
		return "–"
	}
	return human.Bytes(d.Free)
}
