package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/revision"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// member is a node of a test: its files, and what follows the revisions.
type member struct {
	*testing.T
	name, dir, database string
	follower            *revision.Follower
	store               *shared.Store
	stop                func()

	mu      sync.Mutex // guards the fields below
	reloads int
	refuses error
	fails   error         // of reloads
	ahead   time.Duration // of the clock
}

const mainFile = `[operator]
name = "A library"
contact = "https://library.example/"
`

// write writes a file of a member.
func (m *member) write(name, text string) {
	m.Helper()
	path := filepath.Join(m.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		m.Fatal(err)
	}
}

// read returns a file of a member; "" if there is none.
func (m *member) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(m.dir, name))
	return string(text)
}

// own returns the keys of one member.
func (m *member) own() string {
	return fmt.Sprintf("\n[storage]\nstate = \"state\" # of %s\nhosts = \"hosts\"\nsecrets = \"secrets\"\n\n[cluster]\ndatabase = %q\nnode = %q\n",
		m.name, m.database, m.name)
}

func newMember(t *testing.T, db *postgres.Server, name string) *member {
	t.Helper()
	m := &member{T: t, name: name, dir: t.TempDir(), database: db.URL(db.Address())}
	m.write("main.toml", mainFile+m.own())
	m.write("hosts/x", "")
	m.write("state/x", "")
	m.write("secrets/x", "")
	return m
}

// config loads the files of a member.
func (m *member) config() *config.Config {
	m.Helper()
	c, err := config.Load(filepath.Join(m.dir, "main.toml"))
	if err != nil {
		m.Fatal(err)
	}
	return c
}

// start registers a member as a node that beats, and lets it follow the revisions.
func (m *member) start() {
	m.Helper()
	var err error
	if m.store, err = shared.Open(m.Context(), m.database, m.name); err != nil {
		m.Fatal(err)
	}
	revisions, err := shared.OpenRevisions(m.Context(), m.database, m.name)
	if err != nil {
		m.Fatal(err)
	}
	if m.follower, err = revision.Open(revisions, m.config(), zerolog.Nop()); err != nil {
		m.Fatal(err)
	}
	if err := m.follower.CatchUp(m.Context(), time.Now()); err != nil {
		m.Fatal(err)
	}
	left := m.follower.Crawl(func(*config.Config) error { m.mu.Lock(); defer m.mu.Unlock(); return m.refuses },
		func() error { m.mu.Lock(); defer m.mu.Unlock(); m.reloads++; return m.fails })
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for cli.Wait(ctx, 50*time.Millisecond) == nil {
			_, _ = m.store.Beat(ctx)
			m.mu.Lock()
			now := time.Now().Add(m.ahead)
			m.mu.Unlock()
			_ = m.follower.Look(ctx, now)
		}
	})
	m.stop = func() { cancel(); running.Wait(); left(); revisions.Close(); m.store.Close() }
}

// push pushes the files of a member, faster than a user.
func (m *member) push(dryRun bool) (pushResult, error) {
	m.Helper()
	return push(m.Context(), m.config(), dryRun, func(d time.Duration) error {
		if d == lookTime {
			return cli.Wait(m.Context(), lookTime/10) // ten beats
		}
		return cli.Wait(m.Context(), d/50)
	})
}

// refused makes sure that a push is refused with some words, and that no member has changed.
func refused(t *testing.T, by *member, words string, all ...*member) {
	t.Helper()
	var before []string
	look := func() (list []string) {
		for _, m := range all {
			m.mu.Lock()
			list = append(list, fmt.Sprint(m.read("main.toml"), m.read("hosts/a.example.toml"), m.read("hosts/b.example.toml"), m.reloads))
			m.mu.Unlock()
		}
		return list
	}
	before = look()
	if r, err := by.push(false); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "in force nowhere") {
		t.Errorf("pushed %+v, %v; want an error with %q", r, err, words)
	}
	time.Sleep(200 * time.Millisecond) // four looks of each node
	for i, now := range look() {
		if now != before[i] {
			t.Errorf("%s has changed after a push that was refused (%s):\n%s\nbefore:\n%s", all[i].name, words, now, before[i])
		}
	}
}

// TestAPushIsInForceOnAllNodesOrNowhere pushes configurations with a fault that only one node can see, and then good
// ones. A node that was away takes what it missed, and keeps what somebody has edited there.
func TestAPushIsInForceOnAllNodesOrNowhere(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b, c, late := newMember(t, db, "a"), newMember(t, db, "b"), newMember(t, db, "c"), newMember(t, db, "late")
	for _, m := range []*member{a, b, c} {
		m.start()
		defer func() { m.stop() }()
	}
	all := []*member{b, c}
	a.write("main.toml", strings.Replace(mainFile, "A library", "The library", 1)+"\n[admin]\nlisten = \"127.0.0.1:9\"\n"+a.own())
	a.write("hosts/a.example.toml", "request.basic = \"file:site\"\n")
	a.write("hosts/b.example.toml", "title = \"B\"\n")
	a.write("secrets/site", "user:password-of-a\n")
	b.write("secrets/site", "user:password-of-b\n")
	b.write("hosts/old.example.toml", "title = \"only here\"\n")
	refused(t, a, "node c refuses it:\n", all...)
	c.write("secrets/site", "user:password-of-c\n")
	c.refuses = errors.New("groups of hosts differ")
	refused(t, a, "groups of hosts differ", all...)
	c.refuses = nil
	good := a.read("main.toml")
	a.write("main.toml", strings.Replace(good, "[admin]", "[warc]\nsealed_command = \"/usr/bin/evil\"\n\n[admin]", 1))
	refused(t, a, "names a program", all...)
	a.write("main.toml", good)
	if r, err := a.push(true); err != nil || len(r.Nodes) != 3 || b.read("hosts/b.example.toml") != "" {
		t.Errorf("a dry run: %+v, %v", r, err)
	}

	r, err := a.push(false)
	if err != nil || len(r.Nodes) != 3 || len(r.Lagging)+len(r.Away) != 0 {
		t.Fatalf("pushed %+v, %v", r, err)
	}
	for _, m := range append(all, a) {
		got := m.config()
		if got.Operator.Name != "The library" || got.Cluster.Node != m.name || !strings.Contains(m.read("main.toml"), "# of "+m.name) ||
			m.read("hosts/b.example.toml") != "title = \"B\"\n" || (got.Admin.Listen != "") != (m == a) || m.reloads == 0 {
			t.Errorf("node %s has %d reloads and\n%s", m.name, m.reloads, m.read("main.toml"))
		}
		if err := m.follower.Accept(got); err != nil {
			t.Errorf("node %s does not accept the configuration of the cluster: %v", m.name, err)
		}
	}
	kept := fmt.Sprintf("state/replaced/before-%d/", r.Revision)
	if b.read("hosts/old.example.toml") != "" || b.read(kept+"old.example.toml") == "" || b.read(kept+"main.toml") != mainFile+b.own() {
		t.Error("node b has not kept what was replaced")
	}
	b.write("hosts/b.example.toml", "title = \"edited on b\"\n")
	if err := b.follower.Accept(b.config()); err == nil || !strings.Contains(err.Error(), "arcrawl reload --cluster") {
		t.Errorf("files that were edited on one node were accepted: %v", err)
	}

	late.write("secrets/site", "user:password\n")
	late.start()
	defer func() { late.stop() }()
	if late.read("hosts/b.example.toml") != "title = \"B\"\n" || late.config().Operator.Name != "The library" {
		t.Errorf("a node that joins has\n%s", late.read("main.toml"))
	}
	b.stop()
	b.start()
	if b.read("hosts/b.example.toml") != "title = \"B\"\n" {
		t.Error("a node that starts again does not take the configuration of the cluster")
	}
	lagging(t, a, late, r.Revision)
}

// lagging pushes a configuration that a node accepts and then cannot put in force. It is shown, until it can.
func lagging(t *testing.T, a, b *member, before int64) {
	t.Helper()
	b.mu.Lock()
	b.fails = errors.New("the disk is full")
	b.mu.Unlock()
	r, err := a.push(false)
	if err == nil || !strings.Contains(err.Error(), "late: the disk is full") || len(r.Lagging) != 1 || len(r.Nodes) != 3 {
		t.Errorf("pushed %+v, %v", r, err)
	}
	look := func() (shared.Report, string) {
		state, err := shared.Look(t.Context(), a.database, func() error {
			return cli.Wait(t.Context(), 300*time.Millisecond)
		})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := state.Write(&text); err != nil {
			t.Fatal(err)
		}
		return state, text.String()
	}
	want := fmt.Sprintf("lags behind: has revision %d of the configuration", before)
	if _, text := look(); !strings.Contains(text, want) || !strings.Contains(text, "the disk is full") || !strings.Contains(text, fmt.Sprint("config    revision ", r.Revision)) {
		t.Errorf("the report lacks %q:\n%s", want, text)
	}
	b.mu.Lock()
	b.fails, b.ahead = nil, time.Minute
	b.mu.Unlock()
	for range 100 {
		if state, _ := look(); state.Nodes[3].Revision == r.Revision && state.Nodes[3].Trouble == "" {
			return
		}
	}
	t.Error("the node does not try again")
}

// TestASecondPushOvertakesTheFirst proposes two revisions at once. The first one is in force nowhere.
func TestASecondPushOvertakesTheFirst(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	ctx, url := t.Context(), db.URL(db.Address())
	r, err := shared.OpenRevisions(ctx, url, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files := map[string][]byte{"": []byte("x"), "a.toml": nil}
	if force, offered, err := r.Latest(ctx); err != nil || force+offered != 0 {
		t.Errorf("a database without tables has revisions %d and %d, %v", force, offered, err)
	}
	if _, err := r.Propose(ctx, files); err == nil || !strings.Contains(err.Error(), "start one first") {
		t.Errorf("proposed to a database without tables: %v", err)
	}
	store, err := shared.Open(ctx, url, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	first, err := r.Propose(ctx, files)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Propose(ctx, files)
	if err != nil || second <= first {
		t.Fatalf("proposed %d after %d: %v", second, first, err)
	}
	if err := r.Decide(ctx, first, true); !errors.Is(err, shared.ErrOvertaken) {
		t.Errorf("a proposal that was overtaken is in force: %v", err)
	}
	for range 2 { // the answer to the first is lost
		if err := r.Decide(ctx, second, true); err != nil {
			t.Error(err)
		}
	}
	for range 15 {
		n, err := r.Propose(ctx, files)
		if err == nil {
			err = r.Decide(ctx, n, n%2 == 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if force, offered, err := r.Latest(ctx); err != nil || force != 16 || offered != 0 {
		t.Errorf("revisions %d and %d, %v; want 16 in force", force, offered, err)
	}
	if _, err := r.Files(ctx, first); err == nil {
		t.Error("the files of a refused revision are kept")
	}
	if files, err := r.Files(ctx, 16); err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
