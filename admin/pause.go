package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keptPause is a pause as it outlives the process.
type keptPause struct {
	Reason string     `json:"reason"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until,omitempty"`
}

// pause stops the claiming, for good or for a while. It is kept before it is in force, so that a crash cannot end it.
func (w *Window) pause(r Reason) error {
	now := w.o.Now()
	p := keptPause{Reason: r.Reason, Since: now}
	if r.For < 0 {
		return fault("a pause of %s: the time must not be negative", time.Duration(r.For))
	}
	var until time.Time
	if r.For > 0 {
		until = now.Add(time.Duration(r.For))
		p.Until = &until
	}
	if was := w.o.Crawler.Status(); was.Paused != "" {
		p.Since = was.Since
	}
	if err := keepJSON(w.o.Dir, pauseFile, p); err != nil {
		return fmt.Errorf("keep the pause: %w", err)
	}
	w.o.Crawler.Pause(r.Reason, p.Since, until)
	return nil
}

// resume ends a pause. The file goes last: a crash in between pauses again, which is the safe side.
func (w *Window) resume() error {
	w.o.Crawler.Resume()
	if err := drop(w.o.Dir, pauseFile); err != nil {
		return fmt.Errorf("the crawl is resumed, but the next start will pause again: %w", err)
	}
	return nil
}

// takeUpPause goes on with the pause of an earlier run, if it is not over.
func (w *Window) takeUpPause(now time.Time) error {
	if w.o.Dir == "" {
		return nil
	}
	name := filepath.Join(w.o.Dir, pauseFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var p keptPause
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return fmt.Errorf("read whether the crawl is paused: %w; remove %s if it is not", err, name)
	}
	var until time.Time
	if p.Until != nil {
		if until = *p.Until; !now.Before(until) {
			return w.resume()
		}
	}
	w.o.Crawler.Pause(p.Reason, p.Since, until)
	return nil
}
