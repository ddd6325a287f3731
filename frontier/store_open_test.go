package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
