package messages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// background runs f in a goroutine. The returned function ends the context of f and waits for f to return.
func background(f func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// startOffice opens an office that sends to nobody.
func startOffice(t *testing.T) *office {
	t.Helper()
	c := &config.Config{}
	c.Storage.State = t.TempDir()
	run := func(f func(context.Context)) { t.Cleanup(background(f)) }
	o := new(office)
	o.open(func() *config.Config { return c }, run, time.Now, zerolog.Nop())
	return o
}

// TestADigestIsOfADaemonThatIsOpen asks for a digest before the daemon has joined, meanwhile, and when it has left.
func TestADigestIsOfADaemonThatIsOpen(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	check := func(open bool) {
		t.Helper()
		s, ok := o.summary()
		var hosts []string
		from := o.each(time.Unix(0, 0), func(c api.Capture) { hosts = append(hosts, c.Host) })
		if ok != open || (s.Institution == "Library") != open || (from.Unix() == 3) != open || (len(hosts) == 1) != open ||
			(o.changes() != nil) != open {
			t.Errorf("the digest is %t, %+v with captures of %q since %s; want one: %t", ok, s, hosts, from, open)
		}
	}
	check(false)
	o.Join(digestSource{
		Summary: func() (s summary) { s.Institution = "Library"; return s },
		Each: func(since time.Time, use func(api.Capture)) time.Time {
			use(api.Capture{Host: "a.example"})
			return since.Add(3 * time.Second)
		},
		Changes: func(config.Subscription, time.Time, int) (list []api.Capture, upTo time.Time) {
			return []api.Capture{{Host: "a.example"}}, time.Unix(5, 0)
		},
	})
	check(true)
	find, after := o.changes(), time.Unix(4, 0)
	if list, upTo := find(config.Subscription{}, after, 1); len(list) != 1 || upTo.Unix() != 5 {
		t.Errorf("found are the changes %+v up to %s", list, upTo)
	}
	o.Leave()
	check(false)
	if list, upTo := find(config.Subscription{}, after, 1); len(list) != 0 || !upTo.Equal(after) {
		t.Errorf("a daemon that has left finds the changes %+v up to %s", list, upTo)
	}
}

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
		out, err := openOutbox(filepath.Join(dir, "outbox.json"))
		archivetest.Must(t, err)
		return &mailer{
			outbox: out, failing: map[string]bool{},
			config: func() *config.Config { return c }, dir: dir, log: zerolog.New(&log),
			summary: func() (summary, bool) {
				return summary{Names: func(string) []string { return nil }}, true
			},
			each: func(time.Time, func(api.Capture)) (from time.Time) { return from },
			send: func(_ context.Context, _ config.Mail, m mail) error {
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
		m.Add([]notice{{
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
	out, err := openOutbox(filepath.Join(t.TempDir(), "outbox.json"))
	archivetest.Must(t, err)
	start := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC) // a Sunday
	now, failing := start, ""
	var sent []string
	bodies := map[string]string{}
	m := &mailer{
		outbox: out, failing: map[string]bool{}, dir: t.TempDir(), log: zerolog.Nop(),
		config: func() *config.Config { return c },
		summary: func() (summary, bool) {
			return summary{Names: func(host string) []string { return []string{strings.TrimSuffix(host, ".example")} }}, true
		},
		each: func(since time.Time, use func(api.Capture)) (from time.Time) { // a version of two hosts every six hours
			for when := now; when.After(since); when = when.Add(-6 * time.Hour) {
				use(api.Capture{At: when, Host: "press.example", URI: "http://press.example/", Kind: "changed"})
				use(api.Capture{At: when, Host: "radio.example", URI: "http://radio.example/", Kind: "changed"})
			}
			return from
		},
		send: func(_ context.Context, _ config.Mail, m mail) error {
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
			m.Add([]notice{{Alarm: api.Alarm{Host: "press.example", Text: "press is down"}, Raised: true, Labels: []string{"press"}, At: now}})
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

// hookWorld is a webhook whose server takes notices, or returns an error.
type hookWorld struct {
	testing.TB
	dir   string
	hook  *webhook
	close func() // ends it

	mu    sync.Mutex // guards the fields below
	err   error      // of each call
	log   bytes.Buffer
	calls []time.Time
	taken []string
}

// Write writes to the log.
func (w *hookWorld) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// answer makes all further calls end with an error, or nil.
func (w *hookWorld) answer(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
}

// seen returns the times of the calls, the texts that were taken, and the log.
func (w *hookWorld) seen() (calls []time.Time, taken []string, log string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls), slices.Clone(w.taken), w.log.String()
}

// open opens a webhook, as the daemon does when it starts.
func (w *hookWorld) open(url string) {
	w.Helper()
	out, err := openOutbox(filepath.Join(w.dir, outboxFile))
	archivetest.Must(w, err)
	w.hook = openWebhook(url, out, func(_ context.Context, _ string, n notice) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, time.Now())
		if w.err == nil {
			w.taken = append(w.taken, n.Text)
		}
		return w.err
	}, time.Now, zerolog.New(w))
	w.close = background(w.hook.run)
}

// send sends notices with these texts.
func (w *hookWorld) send(texts ...string) {
	var list []notice
	for _, text := range texts {
		list = append(list, notice{Alarm: api.Alarm{Kind: alarm.Host, Text: text}, At: time.Now(), Raised: true})
	}
	w.hook.send(list)
}

// A webhook that does not answer is called again after growing pauses, also after a restart, and takes all in order.
func TestTheWebhookIsCalledUntilItTakesAnAlarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &hookWorld{TB: t, dir: dir, err: errors.New("no answer")}
		w.open("http://hook.example/")
		w.send("a", "b")
		time.Sleep(time.Hour)
		calls, _, _ := w.seen()
		if n := len(calls); n < 10 || n > 15 {
			t.Errorf("%d calls in an hour, want about 13", n)
		}
		for i := 2; i < len(calls); i++ {
			if last, next := calls[i-1].Sub(calls[i-2]), calls[i].Sub(calls[i-1]); next < last || next > maxNoticePause {
				t.Errorf("the pauses before calls %d and %d are %v and %v, want growing ones", i-1, i, last, next)
			}
		}
		w.send("c") // does not shorten the pause
		time.Sleep(2 * time.Second)
		if more, _, _ := w.seen(); len(more) > len(calls)+1 {
			t.Errorf("%d calls in two seconds, although the webhook does not answer", len(more)-len(calls))
		}
		w.close()
		w.answer(nil)
		w.open("http://hook.example/")
		time.Sleep(10 * time.Second)
		if _, taken, _ := w.seen(); !slices.Equal(taken, []string{"a", "b", "c"}) {
			t.Errorf("after a restart the webhook took %q, want a, b and c", taken)
		}
		w.close()
		w.open("http://hook.example/")
		time.Sleep(time.Hour)
		w.close()
		_, taken, log := w.seen()
		if len(taken) != 3 {
			t.Errorf("alarms were sent again: %q", taken)
		}
		if n := strings.Count(log, "could not deliver"); n != 1 {
			t.Errorf("%d failures are logged, want the first:\n%s", n, log)
		}
	})
}

// What the webhook refuses permanently does not hold up the rest, nor does what is outdated. The queue has a bound.
func TestTheWebhookSkipsWhatItNeverTakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &hookWorld{TB: t, dir: dir, err: fmt.Errorf("status 422: %w", errRefused)}
		w.open("http://hook.example/")
		w.send("refused")
		time.Sleep(time.Minute)
		w.answer(errors.New("no answer"))
		w.send("old")
		time.Sleep(noticeMaxAge)
		w.send("new")
		time.Sleep(time.Minute)
		w.answer(nil)
		time.Sleep(time.Hour)
		_, taken, log := w.seen()
		if want := []string{"new"}; !slices.Equal(taken, want) {
			t.Errorf("the webhook took %q, want %q", taken, want)
		}
		if !strings.Contains(log, "not trying again") || !strings.Contains(log, "did not take for days") {
			t.Errorf("the log does not say what was dropped:\n%s", log)
		}
		w.answer(errors.New("no answer"))
		var many []string
		for i := range 3 * maxWaiting {
			many = append(many, fmt.Sprint(i))
		}
		w.send(many...)
		if list, _ := w.hook.outbox.For(webhookName, time.Now()); len(list) != maxWaiting || list[0].Notice.Text != "400" {
			t.Errorf("%d alarms wait, the first %q; want the newest %d", len(list), list[0].Notice.Text, maxWaiting)
		}
		w.close()
		w.hook = openWebhook("", w.hook.outbox, nil, time.Now, zerolog.Nop()) // the configuration no longer names a webhook
		if list, _ := w.hook.outbox.For(webhookName, time.Now()); len(list) != 0 {
			t.Errorf("%d alarms wait although there is no webhook", len(list))
		}
	})
}
