package frontier

import (
	"slices"
	"testing"
	"time"
)

// After a power failure a file is missing if its folder was not synced. Open writes into a new log that the store was
// not closed; if that log was missing, the hosts would not rest. Open and the first claim must sync the folder.
func TestOpenAndTheFirstClaimSyncTheFolder(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Compactors: -1}
	for range 2 {
		f, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		mem, vlog, err := logsIn(o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if logs := append(mem, vlog...); !slices.Equal(f.synced.namedLogs, logs) {
			t.Errorf("the folder was synced with the logs %q, it has %q", f.synced.namedLogs, logs)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
