package daemon

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestMailerSendsAlarmsAndDigests raises alarms of two hosts while the server fails, then lets a day pass.
func TestMailerSendsAlarmsAndDigests(t *testing.T) {
	t.Parallel()
	var sent []string
	var log bytes.Buffer
	failing := true
	c := &config.Config{Mail: config.Mail{
		Server: "smtp.example:25", From: "a@library.example", To: []string{"all@library.example", "press=press@library.example"},
		Alarms: true, Digest: "07:00",
	}}
	dir := t.TempDir()
	open := func() *mailer {
		out, err := alarm.OpenOutbox(filepath.Join(dir, "outbox.json"))
		archivetest.Must(t, err)
		return &mailer{
			outbox: out, failing: map[string]bool{},
			config: func() *config.Config { return c }, dir: dir, log: zerolog.New(&log),
			summary: func() (alarm.Summary, bool) {
				return alarm.Summary{Names: func(string) []string { return nil }}, true
			},
			each: func(time.Time, func(api.Capture)) (from time.Time) { return from },
			send: func(_ context.Context, _ config.Mail, m alarm.Mail) error {
				if failing {
					return errors.New("no answer")
				}
				sent = append(sent, m.To+" "+m.Subject)
				return nil
			},
		}
	}
	m := open()
	now := time.Date(2026, 11, 22, 6, 30, 0, 0, time.UTC)
	tick := func(after time.Duration) string {
		now = now.Add(after)
		sent = nil
		m.tick(t.Context(), now)
		return strings.Join(sent, ", ")
	}
	write := func(host string, labels ...string) {
		m.Add([]alarm.Notice{{
			Alarm:  api.Alarm{Kind: alarm.Host, Host: host, Text: host + " is down"},
			Raised: true, Labels: labels, At: now,
		}})
	}
	write("a.example")
	write("n.example", "press")
	for range 5 {
		tick(time.Minute)
	}
	if n := strings.Count(log.String(), "could not deliver"); n != 2 {
		t.Errorf("%d failures are logged, want one for each recipient:\n%s", n, &log)
	}
	m = open() // restarted: what was not delivered is not lost
	failing = false
	want := "all@library.example arcrawl: 2 alarms raised, 0 cleared, press@library.example arcrawl: host: n.example is down"
	if got := tick(time.Minute); got != want {
		t.Errorf("when the server answers again, %q is sent, want %q", got, want)
	}
	if got := tick(time.Minute); got != "" {
		t.Errorf("%q is sent again", got)
	}
	want = "all@library.example arcrawl: , 0 alarms, 0 new versions, press@library.example arcrawl, press: , 0 alarms, 0 new versions"
	failing = true
	tick(time.Hour)
	m = open() // nor is a digest
	failing = false
	if got := tick(time.Minute); got != want {
		t.Errorf("after the time of the digest %q is sent, want %q", got, want)
	}
	m = open() // restarted
	if got := tick(time.Hour); got != "" {
		t.Errorf("%q is sent again on the same day", got)
	}
	if got := tick(24 * time.Hour); got != want {
		t.Errorf("the next day %q is sent, want %q", got, want)
	}
	failing = true
	write("a.example")
	tick(71 * time.Hour)
	write("b.example")
	tick(2 * time.Hour)
	failing = false
	c.Mail.Digest = ""
	m = open()
	if got := tick(0); !strings.HasPrefix(got, "all@library.example arcrawl: host: b.example is down") {
		t.Errorf("after three days %q is sent, want only what is not outdated", got)
	}
	c.Mail.Server = ""
	write("a.example")
	if got := tick(24 * time.Hour); got != "" {
		t.Errorf("without a server %q is sent", got)
	}
}

// TestAWeeklyDigestHasTheWeek sends two weeks of captures and one alarm to an operator each day, and to a curator each
// week. The mail server fails when the first weekly digest is due, and the daemon does not run on the
// second Monday.
func TestAWeeklyDigestHasTheWeek(t *testing.T) {
	t.Parallel()
	c := &config.Config{Mail: config.Mail{
		Server: "smtp.example:25", From: "a@library.example", Digest: "07:00",
		To: []string{"all@library.example", "press=p@library.example monday"},
	}}
	out, err := alarm.OpenOutbox(filepath.Join(t.TempDir(), "outbox.json"))
	archivetest.Must(t, err)
	start := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC) // a Sunday
	now, failing := start, ""
	var sent []string
	bodies := map[string]string{}
	m := &mailer{
		outbox: out, failing: map[string]bool{}, dir: t.TempDir(), log: zerolog.Nop(),
		config: func() *config.Config { return c },
		summary: func() (alarm.Summary, bool) {
			return alarm.Summary{Names: func(host string) []string { return []string{strings.TrimSuffix(host, ".example")} }}, true
		},
		each: func(since time.Time, use func(api.Capture)) (from time.Time) { // a version of two hosts every six hours
			for when := now; when.After(since); when = when.Add(-6 * time.Hour) {
				use(api.Capture{At: when, Host: "press.example", URI: "http://press.example/", Kind: "changed"})
				use(api.Capture{At: when, Host: "radio.example", URI: "http://radio.example/", Kind: "changed"})
			}
			return from
		},
		send: func(_ context.Context, _ config.Mail, m alarm.Mail) error {
			if m.To == failing {
				return errors.New("no answer")
			}
			_, news, _ := strings.Cut(m.Subject, "alarms, ")
			sent = append(sent, now.Format("Mon ")+m.To+" "+news)
			bodies[m.To] = m.Body
			return nil
		},
	}
	for day := range 17 {
		if day == 3 {
			m.Add([]alarm.Notice{{Alarm: api.Alarm{Host: "press.example", Text: "press is down"}, Raised: true, Labels: []string{"press"}, At: now}})
		}
		failing = ""
		if day == 1 {
			failing = "p@library.example"
		}
		if day != 15 {
			m.tick(t.Context(), now)
		}
		now = now.AddDate(0, 0, 1)
		if day == 9 && !strings.Contains(bodies["p@library.example"], "press is down") {
			t.Errorf("an alarm of the week is not in the digest of the week:\n%s", bodies["p@library.example"])
		}
	}
	var weekly, daily []string
	for _, s := range sent {
		if strings.Contains(s, " p@") {
			weekly = append(weekly, s)
		} else {
			daily = append(daily, s)
		}
	}
	want := "Tue p@library.example 28 new versions, Mon p@library.example 24 new versions, Tue p@library.example 32 new versions"
	if got := strings.Join(weekly, ", "); got != want {
		t.Errorf("the curator received %s; want %s", got, want)
	}
	if len(daily) != 16 || daily[1] != "Mon all@library.example 8 new versions" || daily[15] != "Tue all@library.example 16 new versions" {
		t.Errorf("the operator received %q; want one digest on each of 16 days, and the last with two days", daily)
	}
	if strings.Contains(bodies["all@library.example"], "press is down") {
		t.Errorf("an alarm of last week is in a daily digest:\n%s", bodies["all@library.example"])
	}
}
