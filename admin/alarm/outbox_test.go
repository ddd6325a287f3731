package alarm

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func TestADamagedFileDoesNotStopNewAlarms(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "outbox.json")
	archivetest.Must(t, os.WriteFile(file, []byte(`{"seq": 7, "wai`), 0o600))
	o, err := OpenOutbox(file)
	if err == nil || o == nil {
		t.Fatalf("a damaged file opens as %v, %v; want an empty outbox and an error", o, err)
	}
	now := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)
	n := Notice{Alarm: api.Alarm{Kind: Disk, Text: "full"}, At: now}
	archivetest.Must(t, o.Add([]Notice{n}, func(Notice) []string { return []string{"hook"} }, true))
	o, err = OpenOutbox(file)
	archivetest.Must(t, err)
	if list, outdated := o.For("hook", now); len(list) != 1 || outdated != 0 || list[0].Notice.Text != "full" {
		t.Errorf("%+v waits, %d outdated; want the alarm", list, outdated)
	}
}

// A folder that cannot be written, as on a full disk, must not lose the alarm about it.
func TestAnAlarmIsDeliveredAlthoughItCannotBeStored(t *testing.T) {
	t.Parallel()
	o, err := OpenOutbox(filepath.Join(t.TempDir(), "absent", "outbox.json"))
	archivetest.Must(t, err)
	now := time.Now()
	err = o.Add([]Notice{{At: now}}, func(Notice) []string { return []string{"hook"} }, false)
	if err == nil {
		t.Error("no error although the folder does not exist")
	}
	if list, _ := o.For("hook", now); len(list) != 1 {
		t.Errorf("%d alarms wait, want 1", len(list))
	}
}

// Notices that arrive while others are delivered stay, also if the oldest were dropped meanwhile.
func TestTakenRemovesOnlyWhatWasDelivered(t *testing.T) {
	t.Parallel()
	o := &Outbox{}
	now := time.Now()
	add := func(n int) {
		for range n {
			archivetest.Must(t, o.Add([]Notice{{At: now}}, func(Notice) []string { return []string{"hook"} }, false))
		}
	}
	add(MaxWaiting)
	list, _ := o.For("hook", now)
	add(5)
	archivetest.Must(t, o.Taken("hook", list[len(list)-1].Seq))
	if list, _ = o.For("hook", now); len(list) != 5 {
		t.Errorf("%d alarms wait, want the 5 that came later", len(list))
	}
}
