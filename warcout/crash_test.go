package warcout

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// crashDir names the environment variable with the folder for the child process of the test below.
const crashDir = "ARCRAWL_WARCOUT_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		writeUntilKilled(dir, os.Getenv(crashDir+"_ROUND"))
		return
	}
	os.Exit(m.Run())
}

// crashSeries are the series to which the goroutines write.
var crashSeries = [4]string{"", "", "contract", "embargo"}

// writeUntilKilled writes visits in four goroutines and prints the address of each one that was acknowledged.
func writeUntilKilled(dir, round string) {
	w, _, err := Open(Options{Dir: dir, MaxSize: 100_000, Journal: dir + "/journal"}, time.Now())
	if err != nil {
		fmt.Println("fault:", err)
		return
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				a := fmt.Sprintf("http://www.example.org/%s/%d/%d", round, g, i)
				_, err := w.Write(time.Now(), in(crashSeries[g], visit(a, noise(i, 100*(i%50)))))
				mu.Lock()
				if err != nil {
					fmt.Println("fault:", err)
				} else {
					fmt.Println("done", a)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	const rounds = 5
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range rounds {
		for _, a := range killedAfter(t, dir, round, 30+15*round) {
			acknowledged[a] = true
		}
	}
	w, repairs := opened(t, Options{Dir: dir, Journal: dir + "/journal"})
	for _, r := range repairs {
		if r.Kind == Short || r.Kind == Differs || r.Kind == DamagedJournal || r.Tail != "" {
			t.Errorf("found %v", r)
		}
	}
	must(t, w.Close(start))
	kinds := map[string]string{}
	for _, k := range readDir(t, dir) {
		a := k.get("WARC-Target-URI")
		kinds[a] += k.get("WARC-Type") + " "
		if parts := strings.Split(a, "/"); a != "" {
			if g, _ := strconv.Atoi(parts[4]); SeriesIn("arcrawl")(k.file) != crashSeries[g] {
				t.Errorf("%s is in %s", a, k.file)
			}
		}
	}
	delete(kinds, "")
	for a := range acknowledged {
		if kinds[a] != "response request metadata " {
			t.Errorf("%s was acknowledged, but has %q", a, kinds[a])
		}
	}
	if extra := len(kinds) - len(acknowledged); extra < 0 || extra > 4*rounds {
		t.Errorf("%d visits more than the %d acknowledged ones, want at most one for each goroutine and round", extra, len(acknowledged))
	}
	for _, name := range namesIn(t, dir) {
		if strings.HasSuffix(name, openSuffix) {
			t.Errorf("%s is still open", name)
		}
	}
}

// killedAfter runs a child, kills it once it has acknowledged some visits, and returns these visits.
func killedAfter(t *testing.T, dir string, round, visits int) (acknowledged []string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s_ROUND=%d", crashDir, round))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF { // an incomplete last line is not an acknowledgement
			break
		}
		must(t, err)
		a, ok := strings.CutPrefix(strings.TrimSpace(line), "done ")
		if !ok {
			t.Errorf("the child printed %q", line)
		}
		acknowledged = append(acknowledged, a)
		if len(acknowledged) == visits {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || len(acknowledged) < visits {
		t.Fatalf("the child ended by itself after %d visits: %v", len(acknowledged), err)
	}
	return acknowledged
}
