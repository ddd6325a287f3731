package frontier_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// crawlEnv names the environment variable with a folder. If it is set, this test binary crawls there until it is
// killed.
const crawlEnv = "ARCRAWL_FRONTIER_TEST_CRAWL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crawlEnv); dir != "" {
		fmt.Fprintln(os.Stderr, crawl(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// This test is not parallel, so that it does not count goroutines of other tests.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	w := newWorld(t, func(o *frontier.Options) { o.Compactors = 0 })
	w.add(day, pages("a.example", 10)...)
	w.reopen(day)
	w.close()
	goleak.VerifyNone(t, before)
}

// crawl settles visits as fast as it can, and prints each settlement once it is acknowledged.
func crawl(dir string) error {
	now, err := strconv.ParseInt(os.Getenv(crawlEnv+"_NOW"), 10, 64)
	if err != nil {
		return err
	}
	f, err := frontier.Open(frontier.Options{Dir: dir, Now: time.UnixMilli(now), Valence: func(uri.Host) int { return 2 }})
	if err != nil {
		return err
	}
	clock := time.UnixMilli(now)
	for i := 0; ; i++ {
		clock = clock.Add(time.Second)
		c, ok, err := f.Claim(clock)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		o := frontier.Settlement{Record: c.Record, Finished: clock, Politeness: polite}
		o.Record.Visits++
		o.Record.Due = clock.Add(time.Hour)
		o.Forbidden = i%7 == 0
		o.Reopen = i%50 == 0
		u, err := uri.Parse(fmt.Sprintf("http://h%d.example/found/%d", i%20, i%500))
		if err != nil {
			return err
		}
		o.Found = []frontier.Candidate{{URI: u}}
		if _, err := f.Settle(c, o); err != nil {
			return err
		}
		fmt.Printf("%d %s %d\n", clock.UnixMilli(), c.Record.URI, o.Record.Visits)
	}
}

// All settlements survive a kill of the process, and no claimed URI is lost. The test is not parallel, because a
// process that is being started holds the locks of all stores for a moment.
func TestAKillLosesNothingThatWasSettled(t *testing.T) {
	w := newWorld(t, func(o *frontier.Options) { o.Compactors = 0 })
	for i := range 20 {
		w.add(day, pages(fmt.Sprintf("h%d.example", i), 20)...)
	}
	visits := map[string]int{}
	now := day
	rounds := 5
	if slow.Reduced() {
		rounds = 2
	}
	for round := range rounds {
		w.close()
		now = killAfter(t, w.o.Dir, now.Add(time.Minute), 50+150*round, visits)
		w.open(now)
		w.check()
		for text, n := range visits {
			if got := w.get(text).Visits; got < n || got > n+1 { // one settlement may not be acknowledged yet
				t.Fatalf("round %d: %s was visited %d times, %d were acknowledged", round, text, got, n)
			}
		}
		if n := w.Counts(now); n.InProgress != 0 || n.Queued != n.URIs {
			t.Fatalf("round %d: Counts = %+v; want every URI back in its queue", round, n)
		}
		w.nothing(now.Add(30*time.Second - time.Millisecond)) // every host rests
		after := now.Add(30 * time.Second)
		if next, ok := w.NextReady(); ok && next.After(after) {
			after = next // no URI was overdue: the next one is due within its wait of an hour
		}
		if _, ok, err := w.Claim(after); !ok || err != nil || after.After(now.Add(time.Hour)) {
			t.Fatalf("round %d: Claim %v after the kill: %v, %v", round, after.Sub(now), ok, err)
		}
	}
}

// killAfter starts a process that crawls, kills it after n acknowledged settlements, and records them all.
func killAfter(t *testing.T, dir string, now time.Time, n int, visits map[string]int) time.Time {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	var stderr bytes.Buffer
	cmd.Env = append(os.Environ(), crawlEnv+"="+dir, crawlEnv+"_NOW="+strconv.FormatInt(now.UnixMilli(), 10))
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	seen := 0
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break // an incomplete line is not an acknowledgement
		}
		must(t, err)
		words := strings.Fields(line)
		ms, err1 := strconv.ParseInt(words[0], 10, 64)
		count, err2 := strconv.Atoi(words[2])
		must(t, errors.Join(err1, err2))
		visits[words[1]] = count
		now = time.UnixMilli(ms).UTC()
		if seen++; seen == n {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || seen < n {
		t.Fatalf("the crawl ended by itself after %d of %d settlements: %v\n%s", seen, n, err, &stderr)
	}
	return now
}
