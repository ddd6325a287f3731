package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// storedPause is the content of the file that stores a pause.
type storedPause struct {
	Reason string     `json:"reason"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until,omitempty"`
}

// pause pauses the crawl, optionally for a given time. It stores the pause first, so that a crash cannot end it.
func (w *Window) pause(r api.Reason) error {
	now := w.o.Now()
	p := storedPause{Reason: r.Reason, Since: now}
	if r.For < 0 {
		return Fault("for_seconds %v is negative", time.Duration(r.For).Seconds())
	}
	var until time.Time
	if r.For > 0 {
		until = now.Add(time.Duration(r.For))
		p.Until = &until
	}
	if was := w.o.Crawler.Status(); was.Paused != "" {
		p.Since = was.Since
	}
	if err := saveJSON(w.o.Dir, pauseFile, p); err != nil {
		return fmt.Errorf("store the pause: %w", err)
	}
	w.o.Crawler.Pause(r.Reason, p.Since, until)
	return nil
}

// resume ends a pause. It removes the file last: a crash in between pauses again, which is safe.
func (w *Window) resume() error {
	w.o.Crawler.Resume()
	if w.o.Dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(w.o.Dir, pauseFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the crawl is resumed, but the next start will pause it again: %w", err)
	}
	return nil
}

// restorePause continues the pause of an earlier run, if it has not ended.
func (w *Window) restorePause(now time.Time) error {
	if w.o.Dir == "" {
		return nil
	}
	name := filepath.Join(w.o.Dir, pauseFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var p storedPause
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return fmt.Errorf("read the stored pause: %w; remove %s if the crawl is not paused", err, name)
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

// reload loads the configuration again.
func (w *Window) reload(r *http.Request) (any, error) {
	o, err := Read[api.ReloadOrder](r)
	if err != nil {
		return nil, err
	}
	out := api.Reloaded{DryRun: o.DryRun, Faults: []config.Fault{}}
	var p whatif.Plan
	if o.Staged != nil {
		out.DryRun = true
		staged := api.StagedOf(*o.Staged)
		staged.Remote = access.CallerOf(r.Context()).Way != access.Socket
		p, err = w.o.Crawler.Plan(staged, w.o.Now())
	} else {
		p, err = w.o.Crawler.Reload(o.DryRun, w.o.Now())
	}
	var faults config.Faults
	if errors.As(err, &faults) {
		out.Faults = append([]config.Fault{}, faults...)
		return out, nil
	}
	out.Taken, out.Plan = err == nil && !out.DryRun, p
	return out, err
}

// reloadRoutes returns the request that reloads the configuration.
func reloadRoutes() []Route {
	return []Route{{
		Method: "POST", Path: api.Base + "/reload", Needs: access.Operate,
		Doc:  "Reloads the configuration and returns its effect. It comes into force unless it is a dry run or has faults.",
		Body: api.ReloadOrder{}, Answer: api.Reloaded{}, Serve: (*Window).reload,
	}}
}
