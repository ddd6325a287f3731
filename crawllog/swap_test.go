package crawllog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The disk fails when a rotated log is synced. The lines in it may be lost at a power failure, so no later Sync says
// that all lines are safe, and Close does not either. New lines are in the new file.
func TestSyncReportsThatARotatedLogWasNotSynced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	w, err := Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	entry := Entry{Logged: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), URI: "http://a.example/"}
	if err := w.Write(entry); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(path, path+".1"), w.file.Close()); err != nil { // its sync fails from now on
		t.Fatal(err)
	}
	if err := w.Reopen(); err != nil {
		t.Errorf("Reopen: %v, but lines are written to the new file", err)
	}
	if err := w.Write(entry); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Sync(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Sync: %v, want why the rotated log was not synced", err)
		}
	}
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close: %v, want why the rotated log was not synced", err)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) == 0 {
		t.Errorf("the new file has %d bytes, %v", len(text), err)
	}
}

// A part of a line that cannot be cut off is cut off before the next line.
func TestALineThatCannotBeCutOffIsNoted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "crawl.log")
	w, err := Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	entry := Entry{Logged: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), URI: "http://a.example/"}
	if err := w.Write(entry); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	own := w.file
	if _, err := own.WriteString("2026-"); err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w.file, w.damaged = readOnly, true
	if err := w.undo(5); err == nil || !w.damaged {
		t.Errorf("undo: %v, damaged: %t; want the error, and that the part is still there", err, w.damaged)
	}
	if err := w.Write(entry); err == nil || !w.damaged {
		t.Errorf("Write: %v, damaged: %t; want an error, because the part is still there", err, w.damaged)
	}
	w.file = own
	if err := errors.Join(readOnly.Close(), w.Write(entry)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != string(whole)+string(whole) {
		t.Errorf("the log is %q, %v; want two whole lines", text, err)
	}
}
