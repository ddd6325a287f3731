package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// lossesName is the name of the list of losses and recoveries, in the folder of the WARC files. It only grows.
const lossesName = "losses.jsonl"

// What a line of the list says. The list contains the words, so they never change.
const (
	lineLoss     = "loss"     // payloads are lost
	lineRecovery = "recovery" // the URIs whose payloads were lost are due
)

// lossLine is a line of the list.
type lossLine struct {
	Event string    `json:"event"`
	File  string    `json:"file"`
	At    time.Time `json:"at"`
	Agent string    `json:"agent"`
	Cause string    `json:"cause"`
	From  int64     `json:"from_byte,omitempty"` // the part from this byte on is lost
}

// event returns the line as an event of PREMIS.
func (l lossLine) event() premisEvent {
	e := premisEvent{eventType: loss, at: l.At, failed: true, note: l.Cause, agents: []premisAgent{{l.Agent, true}}}
	if l.From > 0 {
		e.note = fmt.Sprintf("%s from byte %d on", l.Cause, l.From)
	}
	if l.Event == lineRecovery {
		e.eventType, e.failed = recovery, false
		e.detail = "The URIs whose payloads were in lost parts of the file are visited again and archived whole."
	}
	return e
}

// addLosses adds losses to the list of a folder, as far as the last line about their files does not say the same.
func addLosses(dir, event, agent string, losses []dedup.Loss, now time.Time) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("list lost WARC files in %s: %w", lossesName, err)
		}
	}()
	path := filepath.Join(dir, lossesName)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	last := map[string]lossLine{}
	for line := range bytes.Lines(before) {
		var l lossLine
		if json.Unmarshal(line, &l) == nil {
			last[l.File] = l
		}
	}
	var text []byte
	if n := len(before); n > 0 && before[n-1] != '\n' { // a crash has cut the last line
		text = []byte("\n")
	}
	added := false
	for _, l := range losses {
		line := lossLine{event, l.File, now.UTC().Truncate(time.Second), agent, l.Cause.String(), l.From}
		was := last[l.File]
		if was.At, was.Agent = line.At, agent; was == line {
			continue
		}
		b, err := json.Marshal(line)
		if err != nil {
			return err
		}
		text, added = append(append(text, b...), '\n'), true
	}
	if !added {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close(), fileio.SyncDir(dir))
}

// pendingLosses returns the losses whose URIs are not due yet.
func pendingLosses(i *dedup.Index) []dedup.Loss {
	return slices.DeleteFunc(i.Losses(), func(l dedup.Loss) bool { return !l.Pending })
}
