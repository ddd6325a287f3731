package cluster

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// freeze is a time in which a node was stopped with SIGSTOP. What it was sending may arrive afterwards.
type freeze struct {
	node     string
	from, to time.Time
}

// late is how long a request may need from a node to the site on a busy machine.
const late = 3 * time.Second

// freeze stops a node for a while, and lets it continue.
func (f *processes) freeze(name string, d time.Duration) {
	f.count("frozen", "freeze node %s for %s", name, d)
	from := time.Now()
	f.signal(name, syscall.SIGSTOP)
	time.Sleep(d)
	f.signal(name, syscall.SIGCONT)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.freezes = append(f.freezes, freeze{name, from, time.Now()})
}

// wasFrozen reports whether a node was frozen when a request of it arrived, or shortly before.
func (f *processes) wasFrozen(r askedFor) bool {
	return slices.ContainsFunc(f.freezes, func(z freeze) bool {
		return z.node == r.node && !r.at.Before(z.from) && !r.at.After(z.to.Add(late))
	})
}

// cut lets nothing through between a node and the database for a while, or nothing in one direction.
func (f *processes) cut(name string, d time.Duration, toDatabase, toNode bool) {
	f.count("cut", "cut node %s from the database for %s, from it %t, to it %t", name, d, toDatabase, toNode)
	p := f.proxies[name]
	for gate, closed := range map[*sync.RWMutex]bool{&p.gate: toDatabase, &p.back: toNode} {
		if closed {
			gate.Lock()
			defer gate.Unlock()
		}
	}
	time.Sleep(d)
}

// kill kills nodes, each some time after the one before, and starts them again after the last pause.
func (f *processes) kill(names []string, pauses ...time.Duration) {
	for i, name := range names {
		f.count("killed", "kill node %s, and wait %s", name, pauses[i])
		d := f.daemon(name)
		_ = d.Cmd.Process.Kill() // it may have ended, because it was fenced
		<-d.Gone
		time.Sleep(pauses[i])
	}
	for _, name := range names {
		f.start(name)
	}
}

// count counts a fault, and logs what happens.
func (f *processes) count(kind, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = map[string]int{}
	}
	f.counts[kind]++
	f.Logf(format, args...)
}

// fault hurts some of the nodes, and starts again what has ended.
func (f *processes) fault(names []string, r *rand.Rand, db *failingDatabase) {
	order := r.Perm(len(names))
	name, other := names[order[0]], names[order[1]]
	upTo := func(seconds int) time.Duration { return time.Duration(r.IntN(1000*seconds)) * time.Millisecond }
	switch kind := r.IntN(22); {
	case kind < 5:
		f.kill([]string{name}, upTo(20))
	case kind < 7: // the second one while others load the hosts of the first one
		f.kill([]string{name, other}, 18*time.Second+upTo(10), upTo(3))
	case kind < 10:
		f.losePower(name, upTo(40), db)
	case kind < 14:
		f.freeze(name, long(r, 2))
	case kind < 15:
		cut := make(chan struct{})
		d := long(r, 1)
		go func() { f.cut(other, d, true, true); close(cut) }()
		f.freeze(name, long(r, 2))
		<-cut
	case kind < 19:
		way := r.IntN(4)
		f.cut(name, long(r, 1), way != 0, way != 1)
	default:
		f.count("stopped properly", "stop node %s properly", name)
		f.signal(name, syscall.SIGTERM)
		<-f.daemon(name).Gone
		f.start(name)
	}
	time.Sleep(time.Second)
	f.restart(names)
}

// long returns a duration from some seconds up to 60 s, seldom more than 30.
func long(r *rand.Rand, from int) time.Duration {
	x := r.Float64()
	return time.Duration((float64(from) + float64(60-from)*x*x*x*x) * float64(time.Second))
}

// faults hurts all nodes n times at random, four and more nodes in two groups at once. Each tenth time it crashes the
// database: it is away for up to a minute, or its standby is promoted.
func (f *processes) faults(n int, seed uint64, db *failingDatabase) {
	groups := [][]string{f.names}
	if half := len(f.names) / 2; half > 1 {
		groups = [][]string{f.names[:half], f.names[half:]}
	}
	var running sync.WaitGroup
	for g, names := range groups {
		running.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(g)))
			for i := range n / len(groups) {
				f.Logf("%s: fault %d of %d for the nodes %q", time.Now().Format(time.TimeOnly), i+1, n/len(groups), names)
				switch f.fault(names, r, db); {
				case g > 0 || i%10 != 5 || db.standBy == nil:
				case i%20 == 5:
					db.failOver(f, time.Duration(r.IntN(20_000))*time.Millisecond)
				default:
					db.crash(f, time.Duration(60*r.Float64()*float64(time.Second)))
				}
				time.Sleep(time.Duration(r.IntN(3_000)) * time.Millisecond)
			}
		})
	}
	running.Wait()
	f.Logf("faults: %v", f.counts)
}

// restart starts nodes again that have ended because they were fenced, as systemd does.
func (f *processes) restart(names []string) {
	f.Helper()
	for _, name := range names {
		select {
		case <-f.daemon(name).Gone:
			if code := f.daemon(name).Cmd.ProcessState.ExitCode(); code != cli.ExitBusy {
				f.Errorf("node %s ended with exit code %d:\n%s", name, code, f.daemon(name).Output())
			}
			f.Logf("node %s has ended: start it again", name)
			f.start(name)
		default:
		}
	}
}

// ownersAt says what the database has of the nodes at a moment.
type ownersAt struct {
	at     time.Time
	owners []string         // of the parts; "" = none, or one that is fenced
	beats  map[string]int64 // of the nodes
}

// watchOwners notes several times a second who owns what, until stop is called.
func watchOwners(t *testing.T, database func() string) (stop func() []ownersAt) {
	ctx, cancel := context.WithCancel(t.Context())
	var all []ownersAt
	done := make(chan struct{})
	go func() {
		defer close(done)
		var c *pgx.Conn
		for ctx.Err() == nil {
			ask, end := context.WithTimeout(ctx, time.Second)
			if c == nil || c.IsClosed() {
				c, _ = pgx.Connect(ask, database())
			}
			if c != nil {
				if now, err := ownersNow(ask, c); err == nil {
					all = append(all, now)
				} else {
					_ = c.Close(ask)
				}
			}
			end()
			time.Sleep(200 * time.Millisecond)
		}
		if c != nil {
			_ = c.Close(context.Background())
		}
	}()
	return func() []ownersAt { cancel(); <-done; return all }
}

func ownersNow(ctx context.Context, c *pgx.Conn) (now ownersAt, err error) {
	const text = `SELECT c.id, coalesce(n.name, ''), coalesce(p.beat, 0) FROM arcrawl.part c
		LEFT JOIN arcrawl.node n ON n.name = c.owner AND NOT n.fenced LEFT JOIN arcrawl.pulse p ON p.node = n.name ORDER BY c.id`
	now.beats = map[string]int64{}
	rows, err := c.Query(ctx, text)
	if err != nil {
		return now, err
	}
	var id int
	var owner string
	var beat int64
	_, err = pgx.ForEachRow(rows, []any{&id, &owner, &beat}, func() error {
		now.owners = append(now.owners, owner)
		now.beats[owner] = beat
		return nil
	})
	now.at = time.Now()
	return now, err
}

// examineLeases makes sure that each request to a host came from a node that owned its part then, and that had beaten
// in the time of a lease before. Of requests that a node had sent before it was frozen, it only counts them.
func (f *processes) examineLeases(seen []ownersAt) {
	f.Helper()
	moved, last := make([]map[string]time.Time, len(seen)), map[string]int64{} // when the beats of nodes moved last
	for i, s := range seen {
		moved[i] = map[string]time.Time{}
		for node, beat := range s.beats {
			if moved[i][node] = s.at; i > 0 && beat == last[node] {
				moved[i][node] = moved[i-1][node]
			}
			last[node] = beat
		}
	}
	requests, excused, unseen := 0, 0, 0
	f.site.mu.Lock()
	defer f.site.mu.Unlock()
	for host, list := range f.site.asked {
		part := partOf(uri.Host(host), "")
		for _, r := range list {
			compare := func(s ownersAt, t time.Time) int { return s.at.Compare(t) }
			from, _ := slices.BinarySearchFunc(seen, r.at.Add(-late), compare)
			owns, beats, known := false, false, false
			for i := max(0, from-1); i < len(seen) && !seen[i].at.After(r.at.Add(late)); i++ {
				known = known || !r.at.Before(seen[0].at)
				owns = owns || seen[i].owners[part] == r.node
				beats = beats || r.at.Sub(moved[i][r.node]) < leaseTime+late
			}
			switch requests++; {
			case !known:
				unseen++
			case owns && beats:
			case f.wasFrozen(r):
				excused++
			default:
				f.Errorf("%s: node %s asked at %s, and owned part %d: %t, had beaten in time: %t", host, r.node, r.at, part, owns, beats)
			}
		}
	}
	f.Logf("%d requests: %d of before a freeze came without a lease, %d while nobody watched the owners", requests, excused, unseen)
	if requests == 0 || unseen > requests/2 {
		f.Errorf("of %d requests, %d came while nobody watched the owners", requests, unseen)
	}
}

// number returns the number in a variable of the environment, or another one without it.
func number(t *testing.T, variable string, without int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// newChaos prepares the nodes of [TestCluster]: a crawl has begun.
func newChaos(t *testing.T, db *postgres.Server) *processes {
	t.Helper()
	site := newSite(t, 20, 8, 300*time.Millisecond, time.Second)
	if n := number(t, "ARCRAWL_HOSTS", 0); n > 0 { // which are visited more slowly
		site = newSite(t, n, 5, time.Second, 20*time.Second)
	}
	site.links = true
	names := strings.Split("abcdefghijklmnopqrstuvwxyz", "")[:number(t, "ARCRAWL_NODES", 3)]
	f := newProcesses(t, db.URL(db.Address()), site, names...)
	for _, name := range f.names {
		f.proxies[name] = startProxy(t, db.Address())
		f.configure(name, db.URL(f.proxies[name].address))
	}
	f.begin(60)
	return f
}

// TestCluster lets three nodes crawl hosts that link to each other, while nodes are killed, frozen, stopped, cut from
// the database and without power, and the database crashes and fails over. No host gets two requests within its rest,
// whichever nodes made them, and none from a node without a lease. Each remembered visit is in a log and an archive,
// and each URI is known. The archives have no fault. ARCRAWL_FAULTS is the number of random faults; without it a node
// that crawls is killed, and starts again after three seconds. ARCRAWL_NODES is the number of nodes, and ARCRAWL_HOSTS
// of hosts.
func TestCluster(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	f := newChaos(t, db)
	all := &failingDatabase{first: db}
	stop := watchOwners(t, all.url)
	for _, name := range f.names {
		f.start(name)
	}
	for _, name := range f.names {
		f.waitFor(name, 10)
	}
	if faults := number(t, "ARCRAWL_FAULTS", 0); faults == 0 {
		f.kill([]string{"b"}, 3*time.Second)
	} else {
		if !db.Foreign() {
			all.standBy = db.StandBy()
		}
		seed := uint64(time.Now().UnixNano())
		t.Logf("%d faults of seed %d", faults, seed)
		f.faults(faults, seed, all)
	}
	f.awaitAll(f.names...)
	for _, name := range f.names {
		f.running[name].Terminate(t)
	}
	seen := stop()
	f.examineRests()
	f.examineLeases(seen)
	if again := f.examine(); again > 0 {
		t.Logf("%d visits were made again", again)
	}
}

// examineDependencies makes sure that all records that revisits refer to are in the archives of the nodes.
func (f *processes) examineDependencies(dir string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files: %v", len(files), err)
	}
	names := []string{"deps", "--warcs", dir}
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	out, err := exec.Command(f.binary, names...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "captures") {
		f.Errorf("the archives of all nodes lack records: %v\n%s", err, out)
	}
}

// examineRests makes sure that no host got two requests within its rest, and returns how often the node of each host
// changed. Of requests that a node had sent before it was frozen, it only counts them.
func (f *processes) examineRests() (changed map[string]int) {
	f.Helper()
	requests, changes, early := 0, 0, 0
	changed = map[string]int{}
	f.site.mu.Lock()
	defer f.site.mu.Unlock()
	for host, list := range f.site.asked {
		for i := 1; i < len(list); i++ {
			requests++
			if list[i].node != list[i-1].node {
				changes++
				changed[host]++
			}
			gap := list[i].at.Sub(list[i-1].at)
			switch {
			case gap >= f.site.rest:
			case f.wasFrozen(list[i]) || f.wasFrozen(list[i-1]):
				early++
			default:
				f.Errorf("%s: node %s asked %v after node %s", host, list[i].node, gap, list[i-1].node)
			}
		}
	}
	f.Logf("%d requests, %d changes of the node of a host, %d requests of before a freeze within the rest", requests, changes, early)
	return changed
}
