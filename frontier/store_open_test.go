package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
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
