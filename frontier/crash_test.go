package frontier_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// After a power failure the store is undamaged and has everything that was written before the last Sync. The test
// assumes that tables and the manifest are on disk as soon as the store relies on them. The logs lose the bytes that
// were written after the last Sync. Logs that were begun after it are missing, empty, or full of zeros.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	rounds := 8
	if slow.Reduced() {
		rounds = 2
	}
	for seed := range uint64(rounds) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 3))
			w := newWorld(t, func(o *frontier.Options) { o.Compactors = 0 })
			w.add(day, pages("a.example", 500)...)
			now := visitSome(w, rnd, day, rnd.IntN(1500))
			must(t, w.Sync())
			covered := map[string]frontier.Record{}
			must(t, w.Each(func(r frontier.Record) error { covered[r.URI.String()] = r; return nil }))
			synced := files(t, w.o.Dir)
			now = visitSome(w, rnd, now, rnd.IntN(3000))
			o := w.o
			o.Dir, o.Now = filepath.Join(t.TempDir(), "left"), now
			cutPower(t, rnd, synced, files(t, w.o.Dir), o.Dir)

			f, err := frontier.Open(o)
			must(t, err)
			must(t, f.Check())
			for text, was := range covered {
				if is, ok, err := f.Get(was.URI); err != nil || !ok || is.Visits < was.Visits {
					t.Fatalf("%s: %d visits, %v, %v; Sync covered %d", text, is.Visits, ok, err, was.Visits)
				}
			}
			if _, ok, _ := f.Claim(now); ok {
				t.Error("hosts do not rest after a power failure")
			}
			must(t, f.Close())
		})
	}
}

// visitSome settles visits with long records, so that logs become full and are written as tables.
func visitSome(w *world, rnd *rand.Rand, now time.Time, n int) time.Time {
	w.Helper()
	for range n {
		now = now.Add(3 * time.Second)
		c := w.claimAny(now)
		o := visited(c, now, 20*time.Minute)
		text := func() string { return strings.Repeat(string(rune('a'+rnd.IntN(26))), frontier.MaxText-rnd.IntN(100)) }
		o.Record.Validators.ETag, o.Record.Validators.LastModified = text(), text()
		w.settle(c, o)
	}
	return now
}

// files reads the files of a folder that is in use. It skips a file that is removed at the same time.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	// The manifest is read first: the files that it names exist, unless there is a later manifest.
	for range 100 {
		before, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
		must(t, err)
		found := map[string][]byte{}
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		must(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err == nil {
				found[filepath.Base(name)] = data
			} else if !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		after, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
		if err == nil && string(before) == string(after) {
			return found
		}
	}
	t.Fatal("the store does not stop merging")
	return nil
}

// cutPower writes the files that a power failure leaves.
func cutPower(t *testing.T, rnd *rand.Rand, synced, written map[string][]byte, dir string) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o700))
	for name, data := range written {
		old, was := synced[name]
		switch {
		case filepath.Ext(name) != ".mem" || was && rnd.IntN(4) == 0: // always on disk, or there by chance
		case was:
			data = old
		case rnd.IntN(3) == 0:
			continue
		case rnd.IntN(2) == 0:
			data = nil
		default:
			data = make([]byte, len(data))
		}
		must(t, os.WriteFile(filepath.Join(dir, name), data, fs.FileMode(0o600)))
	}
}
