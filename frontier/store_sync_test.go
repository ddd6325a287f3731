package frontier

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
