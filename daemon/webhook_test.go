package daemon

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
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// hookWorld is a webhook whose server takes notices, or returns an error.
type hookWorld struct {
	testing.TB
	dir  string
	hook *webhook

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
	out, err := alarm.OpenOutbox(filepath.Join(w.dir, outboxFile))
	archivetest.Must(w, err)
	w.hook = openWebhook(url, out, func(_ context.Context, _ string, n alarm.Notice) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, time.Now())
		if w.err == nil {
			w.taken = append(w.taken, n.Text)
		}
		return w.err
	}, time.Now, zerolog.New(w))
}

// send sends notices with these texts.
func (w *hookWorld) send(texts ...string) {
	var list []alarm.Notice
	for _, text := range texts {
		list = append(list, alarm.Notice{Alarm: api.Alarm{Kind: alarm.Host, Text: text}, At: time.Now(), Raised: true})
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
		w.hook.close()
		w.answer(nil)
		w.open("http://hook.example/")
		time.Sleep(10 * time.Second)
		if _, taken, _ := w.seen(); !slices.Equal(taken, []string{"a", "b", "c"}) {
			t.Errorf("after a restart the webhook took %q, want a, b and c", taken)
		}
		w.hook.close()
		w.open("http://hook.example/")
		time.Sleep(time.Hour)
		w.hook.close()
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
		w := &hookWorld{TB: t, dir: dir, err: fmt.Errorf("status 422: %w", alarm.ErrRefused)}
		w.open("http://hook.example/")
		w.send("refused")
		time.Sleep(time.Minute)
		w.answer(errors.New("no answer"))
		w.send("old")
		time.Sleep(alarm.NoticeMaxAge)
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
		for i := range 3 * alarm.MaxWaiting {
			many = append(many, fmt.Sprint(i))
		}
		w.send(many...)
		if list, _ := w.hook.outbox.For(webhookName, time.Now()); len(list) != alarm.MaxWaiting || list[0].Notice.Text != "400" {
			t.Errorf("%d alarms wait, the first %q; want the newest %d", len(list), list[0].Notice.Text, alarm.MaxWaiting)
		}
		w.hook.close()
		w.hook = openWebhook("", w.hook.outbox, nil, time.Now, zerolog.Nop()) // the configuration no longer names a webhook
		w.hook.close()
		if list, _ := w.hook.outbox.For(webhookName, time.Now()); len(list) != 0 {
			t.Errorf("%d alarms wait although there is no webhook", len(list))
		}
	})
}
