package frontier

import (
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
			if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var s syncState
		if err := s.syncFiles(dir); err != nil {
			t.Fatal(err)
		}
		var got []string
		for name := range s.completeLogs {
			got = append(got, filepath.Base(name))
		}
		if slices.Sort(got); strings.Join(got, " ") != want.whole {
			t.Errorf("complete logs of %q: %q, want %q", want.logs, got, want.whole)
		}
	}
}
