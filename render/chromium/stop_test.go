package chromium_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/render/chromium"
)

// stopTime is the maximum time that a browser may take to end. It is killed, so on an idle machine it takes some ms.
// The programs of these tests would run for a minute.
const stopTime = 20 * time.Second

// ends fails the test if a call takes longer than a stop may.
func ends(t *testing.T, what string, call func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(stopTime):
		t.Fatalf("%s did not end within %s", what, stopTime)
	}
}

// silent returns a browser that is a program which never answers. It does not end the programs that it has started.
func silent(t *testing.T, o chromium.Options) *chromium.Browser {
	t.Helper()
	o.Program, o.NoNamespace = filepath.Join(t.TempDir(), "silent"), true
	if err := os.WriteFile(o.Program, []byte("#!/bin/sh\nsleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(o.Program); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // for the user that the browser runs as
			t.Fatal(err)
		}
	}
	return chromium.NewBrowser(o)
}

// TestABrowserThatDoesNotStart is about a program that runs and never answers. Its start has a bound, and a stop ends
// it at once.
func TestABrowserThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		start time.Duration // maximum for the start
		stop  time.Duration // until the caller stops; zero = before the call
		want  error
	}{
		{"too slow", 200 * time.Millisecond, time.Hour, context.DeadlineExceeded},
		{"stopped meanwhile", time.Hour, 200 * time.Millisecond, context.Canceled},
		{"stopped before", time.Hour, 0, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := silent(t, chromium.Options{Start: c.start})
			ctx, stop := context.WithCancel(t.Context())
			if c.stop == 0 {
				stop()
			} else {
				defer time.AfterFunc(c.stop, stop).Stop()
			}
			var err error
			ends(t, "the start", func() {
				_, err = b.Render(ctx, chromium.Job{URI: site + "/", Answer: new(files).answer, Limit: time.Minute})
			})
			if !errors.Is(err, c.want) {
				t.Errorf("the error is %v, want %v", err, c.want)
			}
			if started := errors.Is(err, chromium.ErrStart); started != (c.stop != 0) {
				t.Errorf("the error is %v: it says that the browser could not be started: %v", err, started)
			}
			ends(t, "Close", func() { b.Close(); b.Close() })
		})
	}
}

// TestAStopWhileAPageIsRendered stops a browser while it waits for an answer, many times. The next page gets a browser
// that works.
func TestAStopWhileAPageIsRendered(t *testing.T) {
	t.Parallel()
	b := browser(t, chromium.Options{})
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		asked := make(chan struct{})
		result := make(chan error, 1)
		go func() {
			_, err := b.Render(ctx, chromium.Job{
				URI: site + "/", Limit: time.Minute,
				Answer: func(ctx context.Context, _ chromium.Request) chromium.Answer {
					close(asked)
					<-ctx.Done()
					return chromium.Answer{}
				},
			})
			result <- err
		}()
		select {
		case <-asked:
		case err := <-result:
			t.Fatalf("the page was not requested: %v", err)
		}
		ends(t, "the stop", func() {
			stop()
			b.Close()
			b.Close()
		})
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("the rendering that was stopped returned %v", err)
		}
	}
	f := &files{content: map[string]string{site + "/": "<p>here again</p>"}}
	r, err := b.Render(t.Context(), chromium.Job{URI: site + "/", Answer: f.answer, Limit: time.Minute})
	if err != nil || r.Text != "here again" {
		t.Errorf("after the stops: %q, %v", r.Text, err)
	}
}

// TestAStopOfABrowserThatHangs stops a browser whose process is there and answers nothing any more.
func TestAStopOfABrowserThatHangs(t *testing.T) {
	t.Parallel()
	b := browser(t, chromium.Options{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := b.Render(ctx, chromium.Job{
		URI: site + "/", Limit: 20 * time.Second,
		Answer: func(context.Context, chromium.Request) chromium.Answer {
			if err := syscall.Kill(b.PID(), syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
			time.AfterFunc(200*time.Millisecond, stop)
			return chromium.Answer{Status: 200, Body: []byte("<p>never read</p>")}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the rendering that was stopped returned %v", err)
	}
	ends(t, "Close", b.Close)
}
