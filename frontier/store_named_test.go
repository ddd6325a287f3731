package frontier

import (
	"slices"
	"testing"
)

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
