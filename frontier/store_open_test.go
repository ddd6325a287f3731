package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
)

// A manifest entry with a damaged length looks like an entry that was being written at a power failure. Badger would
// cut it off, and then remove all tables that the manifest no longer names. checkTail distinguishes the two cases.
func TestADamagedLengthIsNotTakenForATornTail(t *testing.T) {
	t.Parallel()
	entry := func(text string) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
		b = binary.BigEndian.AppendUint32(b, crc32.Checksum([]byte(text), castagnoli))
		return append(b, text...)
	}
	whole := entry("a table is created")
	long := append([]byte(nil), whole...)
	long[3] += 100
	for _, c := range []struct {
		name    string
		tail    []byte
		corrupt bool
	}{
		{"nothing behind the last entry", nil, false},
		{"torn in its head", whole[:7], false},
		{"torn behind its head", whole[:8], false},
		{"torn in the middle", whole[:15], false},
		{"torn before its last byte", whole[:len(whole)-1], false},
		{"the length is wrong", long, true},
		{"the length is wrong, and entries follow", append(append([]byte(nil), long...), whole...), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "MANIFEST")
			noErr(t, os.WriteFile(name, append([]byte("head"), c.tail...), 0o600))
			f, err := os.Open(name)
			noErr(t, err)
			defer f.Close()
			if err := checkTail(f, 4); errors.Is(err, ErrCorrupt) != c.corrupt || !c.corrupt && err != nil {
				t.Errorf("checkTail: %v; want corrupt: %v", err, c.corrupt)
			}
		})
	}
}

// An error of the machine is not taken for damage, even if Badger hides its cause: 65 would keep the daemon down.
func TestErrorsOfTheMachineAreNotDamage(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{
		syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.EACCES, syscall.EPERM, syscall.EAGAIN, syscall.ESTALE,
	} {
		hidden := fmt.Errorf("Unable to open log dir. Path=/state. Error=open /state: %v", errno) //nolint:errorlint // hidden
		for name, err := range map[string]error{"hidden": hidden, "wrapped": fmt.Errorf("open: %w", errno)} {
			got := classifyError(err)
			if errors.Is(got, ErrCorrupt) || !errors.Is(got, errno) || got.Error() != err.Error() {
				t.Errorf("%s, %s: %v (corrupt %t); want the same text, caused by it", errno, name, got, errors.Is(got, ErrCorrupt))
			}
		}
	}
	if err := classifyError(errors.New("bad magic")); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v, want damage", err)
	}
}

// The number of bytes merged at a time hardly depends on the size of a log, and grows with the size of the store.
func TestLogsToMerge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size, log int64
		want      int
	}{
		{0, 8 << 20, 3},
		{0, 6 << 20, 4},
		{0, 16 << 20, 3},
		{64 << 20, 8 << 20, 5},
		{64 << 20, 6 << 20, 6},
		{10 << 30, 8 << 20, 24},
		{10 << 30, 6 << 20, 32},
	} {
		if got := logsToMerge(c.size, c.log); got != c.want {
			t.Errorf("logs of %d MB in a store of %d MB: %d at a time, want %d", c.log>>20, c.size>>20, got, c.want)
		}
	}
}

// large is a crawl whose stores have 10 GB.
type large struct{ Elsewhere }

func (large) Size() int64 { return 10 << 30 }

// A new store of a large crawl may have to adopt millions of URIs.
func TestANewStoreOfALargeCrawlMergesMoreLogsAtATime(t *testing.T) {
	t.Parallel()
	alone, part := openTest(t, Options{Dir: t.TempDir()}), openTest(t, Options{Dir: t.TempDir(), Elsewhere: large{}})
	if a, p := alone.db.Opts().NumLevelZeroTables, part.db.Opts().NumLevelZeroTables; a != 4 || p != 32 {
		t.Errorf("%d logs at a time, and %d in a large crawl, want 4 and 32", a, p)
	}
}

// After a power failure a file is missing if its folder was not synced. Open writes into a new log that the store was
// not closed; if that log was missing, the hosts would not rest. Open and the first claim must sync the folder.
func TestOpenAndTheFirstClaimSyncTheFolder(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	for range 2 {
		f := openTest(t, o)
		mem, vlog, err := logsIn(o.Dir)
		noErr(t, err)
		if logs := append(mem, vlog...); !slices.Equal(f.synced.namedLogs, logs) {
			t.Errorf("the folder was synced with the logs %q, it has %q", f.synced.namedLogs, logs)
		}
		noErr(t, f.Close())
	}
}

// A log is complete only if there is a later log. Logs are ordered by number, also from five digits to six.
func TestSyncSkipsOnlyCompleteLogs(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		logs  string
		whole string
	}{
		{"00007.mem", ""},
		{"00007.mem 00008.mem", "00007.mem"},
		{"99999.mem 100000.mem", "99999.mem"},
		{"00007.mem 000001.vlog", ""},
		{"000001.vlog 000002.vlog 00007.mem", "000001.vlog"},
	} {
		dir := t.TempDir()
		for name := range strings.FieldsSeq(want.logs) {
			noErr(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		}
		var s syncState
		noErr(t, s.syncFiles(dir))
		if got := slices.Sorted(maps.Keys(s.completeLogs)); strings.Join(got, " ") != want.whole {
			t.Errorf("complete logs of %q: %q, want %q", want.logs, got, want.whole)
		}
	}
}

// Whichever byte of a table is changed, the verifier accepts the table only if Badger does. It accepts all undamaged
// tables. Otherwise opening a store would take as long as with Badger's own check.
func TestVerifierAcceptsOnlyUndamagedTables(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	f := openTest(t, o)
	for i := range 300 {
		link(t, f, fmt.Sprintf("http://a.example/%d", i))
	}
	noErr(t, f.Close())
	names, err := filepath.Glob(filepath.Join(o.Dir, "*.sst"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	var v verifier
	noErr(t, v.read(names[0]))
	if !v.whole(options.Snappy) {
		t.Fatal("an undamaged table is not accepted")
	}
	spoiled := 0
	for i := 0; i < len(v.file); i += 7 {
		v.file[i] ^= 1 << (i % 8)
		vouched := false
		err := readTable(v.file, 1, table.Options{BlockSize: 8 << 10, Compression: options.Snappy},
			func(b *table.Table) error {
				vouched = v.whole(options.Snappy)
				return b.VerifyChecksum()
			})
		if vouched && err != nil {
			t.Errorf("byte %d of %d is damaged, but the table was accepted; Badger: %v", i, len(v.file), err)
		}
		if err != nil {
			spoiled++
		}
		v.file[i] ^= 1 << (i % 8)
	}
	if spoiled < len(v.file)/7*9/10 || !v.whole(options.Snappy) {
		t.Errorf("only %d of %d damaged bytes were noticed", spoiled, len(v.file)/7)
	}
}

// Verify finds damage on disk while the frontier is open, and names the table.
func TestVerifyFindsADamagedTable(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	for _, text := range []string{"http://a.example/", "http://b.example/"} {
		f := openTest(t, o)
		link(t, f, text)
		noErr(t, f.Close()) // writes a table
	}
	f, err := Open(Options{Dir: o.Dir, Now: start, Compactors: -1})
	noErr(t, err)
	defer func() { _ = f.Close() }()
	rounds := 0
	for calls := range 5 { // two tables, one for each call
		done, err := f.Verify(1)
		noErr(t, err)
		if done != (calls%2 == 1) {
			t.Errorf("call %d: done %v", calls, done)
		}
		if done {
			rounds++
		}
	}
	tables, err := filepath.Glob(filepath.Join(o.Dir, "*.sst"))
	if err != nil || len(tables) != 2 {
		t.Fatal(tables, err)
	}
	spoil(t, tables[0])
	var faults error
	for range 3 {
		_, err := f.Verify(1)
		faults = errors.Join(faults, err)
	}
	if !errors.Is(faults, ErrCorrupt) || !strings.Contains(faults.Error(), filepath.Base(tables[0])) || rounds != 2 {
		t.Errorf("Verify: %v after %d rounds; want an error that %s is damaged", faults, rounds, tables[0])
	}
}

// spoil changes a byte of a file that is in use.
func spoil(t *testing.T, name string) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	noErr(t, err)
	var b [1]byte
	_, err1 := file.ReadAt(b[:], 3)
	b[0] ^= 1
	_, err2 := file.WriteAt(b[:], 3)
	noErr(t, errors.Join(err1, err2, file.Close()))
}

// Hosts of three domains at four addresses are claimed, settled and steered in random order. No quota is ever exceeded,
// and nothing waits in line although it could be claimed.
func TestQuotasHoldAndNothingStarves(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	for seed := range uint64(8) {
		p := rand.New(rand.NewPCG(seed, 1))
		now := start
		f := openTest(t, Options{Quotas: Quotas{PerDomain: 5, PerAddress: 6, PerServer: 2, Unmet: 2}})
		for n := range 60 {
			link(t, f, fmt.Sprintf("http://h%d.domain%d.example:%d/", n, n%3, 1000+n%7))
		}
		var claims []Claim
		for range 600 {
			now = now.Add(time.Duration(p.IntN(400)) * time.Millisecond)
			switch {
			case p.IntN(3) > 0 || len(claims) == 0:
				c, ok, err := f.Claim(now)
				noErr(t, err)
				if ok {
					claims = append(claims, c)
				} else {
					nothingIsClaimable(t, f, now)
				}
			case p.IntN(20) == 0:
				verb := []HostVerb{Pause, Resume, Wake}[p.IntN(3)]
				pattern := string(claims[p.IntN(len(claims))].Record.URI.Host())
				_, _, err := f.SteerHosts(now, pattern, HostAction{Verb: verb})
				noErr(t, err)
			default:
				i := p.IntN(len(claims))
				c := claims[i]
				claims = append(claims[:i], claims[i+1:]...)
				address := netip.AddrFrom4([4]byte{192, 0, 2, byte(p.IntN(4))})
				o := Settlement{Record: c.Record, Finished: now, HostDown: p.IntN(4) == 0, Address: address}
				if o.HostDown {
					o.Address = netip.Addr{}
				}
				o.Record.Due = now.Add(time.Duration(p.IntN(5)) * time.Second)
				_, err := f.Settle(c, o)
				noErr(t, err)
			}
			for key, q := range f.quotaByKey {
				if q.claims > q.max && !key.address.IsValid() {
					t.Fatalf("%d claims under the quota %v of %d", q.claims, key, q.max)
				}
			}
			if p.IntN(20) == 0 {
				noErr(t, f.Check())
			}
		}
	}
}

// nothingIsClaimable fails the test if a host is ready and within its quotas.
func nothingIsClaimable(t *testing.T, f *Frontier, now time.Time) {
	t.Helper()
	for _, h := range f.byID {
		if h.ownReadyAt <= now.UnixMilli() && h.usedUp() == nil {
			t.Fatalf("host %s is ready and within its quotas, but was not handed out (it waits: %v)", h.name, h.waitsFor != nil)
		}
	}
}

// An owner of 300 names, and of a hundred ports at one address, gets its share of the workers and no more. The other
// host is served at once.
func TestAnOwnerOfManyNamesGetsItsShareOnly(t *testing.T) {
	t.Parallel()
	f := openTest(t, Options{Quotas: QuotasFor(50)})
	for n := range 300 {
		link(t, f, fmt.Sprintf("http://n%d.owner.example/", n))
		link(t, f, fmt.Sprintf("http://198.51.100.7:%d/", 8000+n))
	}
	link(t, f, "http://well.example/")
	claimed := map[string]int{}
	for range 50 {
		c, ok, err := f.Claim(start)
		noErr(t, err)
		if ok {
			claimed[c.Record.URI.Domain()]++
		}
	}
	if claimed["owner.example"] != 12 || claimed["198.51.100.7"] != 12 || claimed["well.example"] != 1 {
		t.Errorf("50 workers claimed %v; want 12 of the owner's names, 12 of the address, and the other host", claimed)
	}
}

// passed counts the remains of earlier visits that a search in the host's queue skips between the watermark on disk and
// the first URI.
func passed(t *testing.T, f *Frontier) int {
	t.Helper()
	n := 0
	err := f.db.View(func(txn *badger.Txn) error {
		var w hostRow
		if _, err := readRow(txn, hostKey(1), &w); err != nil {
			return err
		}
		it := txn.NewIterator(badger.IteratorOptions{AllVersions: true, Prefix: key(kindQueue, 1, nil)})
		defer it.Close()
		var deleted []byte
		for it.Seek(queueKey(1, place([]byte(w.Mark)))); it.Valid(); it.Next() {
			switch item := it.Item(); {
			case bytes.Equal(item.Key(), deleted): // an earlier version of the deleted key
			case !item.IsDeletedOrExpired():
				return nil
			default:
				deleted = item.KeyCopy(deleted)
				n++
			}
		}
		return nil
	})
	noErr(t, err)
	return n
}

// The cost of a claim does not depend on the number of earlier visits to its host, because the queue is read from the
// watermark. Read from its head, the search would skip the remains of all earlier visits. The same holds right after
// a restart.
func TestWatermarkKeepsTheCostOfAClaimFlat(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	o := Options{Dir: t.TempDir()}
	f := openTest(t, o)
	const uris, visits = 2000, 3000
	cs := make([]Candidate, uris)
	for i := range cs {
		// Half of them are due in the same millisecond.
		cs[i] = Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://a.example/%d", i)), Due: start.Add(time.Duration(i%2*i) * time.Millisecond)}
	}
	_, err := f.Add(start, cs...)
	noErr(t, err)
	now := start.Add(time.Hour)
	for i := range visits {
		now = now.Add(time.Second)
		c, ok, err := f.Claim(now)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r := c.Record
		r.Due = now.Add(20 * time.Minute)
		if i%100 == 0 {
			r.Due = now // the watermark has to move back
		}
		_, err = f.Settle(c, Settlement{Record: r, Finished: now})
		noErr(t, err)
		if n := passed(t, f); n > 1 {
			t.Fatalf("after %d visits a search from the watermark skips %d remains, want at most 1", i+1, n)
		}
		if i%1000 == 999 {
			noErr(t, errors.Join(f.Check(), f.Close()))
			f = openTest(t, o)
		}
	}
}

// A kill after any portion of an eviction leaves a sound store, in which the eviction is completed later and the number
// of the host is used again.
func TestKillBetweenPortionsOfAnEviction(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), NewHosts: NewHosts{Total: 1}}
	f := openTest(t, o)
	for n := range 3*evictBatch - 1 {
		link(t, f, fmt.Sprintf("http://dead.example/%d", n))
	}
	c, _, err := f.Claim(start)
	noErr(t, err)
	down := Settlement{Record: c.Record, Finished: start, HostDown: true, Robots: &RobotsCopy{Fetched: start}}
	down.Record.Due = start.Add(time.Hour)
	_, err = f.Settle(c, down)
	noErr(t, err)
	h, from := f.hosts["dead.example"], fingerprint{}
	for portion, more := 1, true; more; portion++ {
		from, _, more, err = f.evictPortion(h, from)
		noErr(t, err)
		killed := o
		killed.Dir = filepath.Join(t.TempDir(), "killed")
		noErr(t, smalldisk.CopyFS(killed.Dir, o.Dir))
		g := openTest(t, killed)
		if left := g.hosts["dead.example"].uris; left != max(0, int64(3*evictBatch-1-portion*evictBatch)) {
			t.Errorf("after portion %d: %d URIs are left", portion, left)
		}
		if added := link(t, g, "http://new.example/"); added.Refused != 1 {
			t.Errorf("after portion %d: Add = %+v; want it refused before there is room", portion, added)
		}
		if n, err := g.MakeRoom(nil); n != 1 || err != nil {
			t.Errorf("after portion %d: MakeRoom = %d, %v", portion, n, err)
		}
		if added := link(t, g, "http://new.example/"); added.New != 1 || g.hosts["new.example"].id != 1 || len(g.byID) != 1 {
			t.Errorf("after portion %d: Add = %+v, %d hosts", portion, added, len(g.byID))
		}
		noErr(t, errors.Join(g.Check(), g.Close()))
	}
}
