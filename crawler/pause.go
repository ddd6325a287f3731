package crawler

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

const (
	// holdTime is how long the crawl is held after a fault of our own before it tries again.
	holdTime = 10 * time.Second
	// failTime is how long the disk may fail before the crawl is given up. A file system that was taken off, or is
	// read-only after an error, cannot be repaired while a process has files of it open.
	failTime = time.Minute
	// spaceEvery is the time between two checks of the free disk space while crawling.
	spaceEvery = time.Second
)

// Status says whether the crawl is running, and why it is not. The zero value is a running crawl.
type Status struct {
	Held   string    // why nothing is claimed, because of a fault of our own; empty = no fault
	Uplink bool      // Held is set because our own network seems to be down
	Brief  bool      // Held is set because of a [BriefFault]
	Paused string    // why an operator paused the crawl; empty = not paused
	Since  time.Time // when the crawl stopped claiming; zero while it is running
	Until  time.Time // when the pause ends by itself; zero = it does not
}

// Fault returns what the disk or the network of this machine prevents the crawl from, and since when; "" if nothing. A
// [BriefFault] fault, such as a database that does not answer, is not one of this machine.
func (s Status) Fault() (why string, since time.Time) {
	if s.Brief || s.Paused != "" {
		return "", time.Time{}
	}
	return s.Held, s.Since
}

// BriefFault is a fault whose end needs no visit to be seen, such as a database that does not answer. It is looked at
// again each second.
type BriefFault struct{ error }

// Unwrap returns the fault.
func (b BriefFault) Unwrap() error { return b.error }

// NewBriefFault returns a fault as a [BriefFault].
func NewBriefFault(cause error) error { return BriefFault{cause} }

// pauseState is why the crawl may not claim URIs. There are two reasons. A fault of our own, such as a full disk, holds
// the crawl until the fault is gone; see hold. An operator pauses it until it is resumed or a given time has come; see
// [Crawler.Pause].
type pauseState struct {
	mu        sync.Mutex // guards the fields below
	held      string     // why nothing is claimed, because of a fault of our own; empty = no fault
	heldSince time.Time
	checkAt   time.Time // when to check again whether the crawl is held
	failing   time.Time // when the disk began to fail; zero = the last fault was another one
	brief     bool      // held is a [BriefFault]
	paused    Status    // by an operator
}

// Pause stops the claiming until [Crawler.Resume], or until the given time if that is not zero. Visits in progress are
// finished. A second call replaces reason and end of the first. An empty reason is replaced by a default.
func (c *Crawler) Pause(reason string, now, until time.Time) {
	s := &c.pause
	if reason == "" {
		reason = "paused by the operator"
	}
	s.mu.Lock()
	if s.paused.Paused == "" {
		s.paused.Since = now
	}
	s.paused.Paused, s.paused.Until = reason, until
	s.mu.Unlock()
	c.parts.Log.Warn().Str("reason", reason).Msg("pausing crawl: nothing is claimed until it is resumed")
	c.Wake()
}

// Resume ends a pause. It does nothing if there is none.
func (c *Crawler) Resume() {
	s := &c.pause
	s.mu.Lock()
	was := s.paused.Paused
	s.paused = Status{}
	s.mu.Unlock()
	if was != "" {
		c.parts.Log.Info().Msg("resuming crawl: the pause is over")
	}
	c.Wake()
}

// hold stops the claiming for a while because of a fault of our own, and logs it once. It stops the crawl if the
// disk has failed for failTime: the process must be started again.
func (c *Crawler) hold(now time.Time, cause error) {
	s := &c.pause
	s.mu.Lock()
	first := s.held == ""
	if s.held = cause.Error(); first {
		s.heldSince = now
	}
	wait := holdTime
	if s.brief = errors.As(cause, new(BriefFault)); s.brief {
		wait = spaceEvery
	}
	s.checkAt = now.Add(wait)
	if !diskFails(cause) {
		s.failing = time.Time{}
	} else if s.failing.IsZero() {
		s.failing = now
	}
	givenUp := !s.failing.IsZero() && now.Sub(s.failing) >= failTime
	s.mu.Unlock()
	c.Wake()
	if givenUp {
		stopCrawl(c.broken, fmt.Errorf("the disk has failed for a minute: %w", cause))
	}
	if first {
		c.parts.Log.Error().Err(cause).Str("retry_in", wait.String()).
			Msg("pausing crawl: nothing is lost; fix the cause and the crawl resumes automatically")
	}
}

// whenThereIsSpace calls do, which changes the store. While the disk has no space for that, it holds the crawl and
// tries again, until stop is closed.
func (c *Crawler) whenThereIsSpace(stop <-chan struct{}, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, frontier.ErrFull) {
			return err
		}
		c.hold(c.parts.Now(), err)
		select {
		case <-stop:
			return nil
		case <-time.After(holdTime):
		}
	}
}

// diskFails reports whether a fault is one of the disk that no free space ends.
func diskFails(cause error) bool {
	for _, errno := range []syscall.Errno{
		syscall.EIO, syscall.EROFS, syscall.ENXIO, syscall.ENODEV, syscall.ESTALE, syscall.ESHUTDOWN,
	} {
		if errors.Is(cause, errno) {
			return true
		}
	}
	return false
}

// endHold ends a hold. It does nothing if there is none.
func (c *Crawler) endHold() {
	s := &c.pause
	s.mu.Lock()
	was := s.held
	s.held, s.failing = "", time.Time{}
	s.mu.Unlock()
	if was != "" {
		c.parts.Log.Info().Msg("resuming crawl: the fault is gone")
	}
	c.Wake()
}

// Status returns whether the crawl is running.
func (c *Crawler) Status() Status {
	s := &c.pause
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.paused
	if status.Held = s.held; status.Held != "" && status.Paused == "" {
		status.Since = s.heldSince
	}
	status.Brief = status.Held != "" && s.brief
	status.Uplink = status.Held != "" && c.uplink.Down()
	return status
}

// mayClaim reports whether a URI may be claimed. It checks from time to time whether a fault of our own is gone.
//
// Some faults can only be seen to be gone by a visit. After such a fault, one visit is allowed as a trial, and
// another one every ten seconds if the first takes longer. Many at once would fail, and ask hosts for what cannot be
// kept.
func (c *Crawler) mayClaim(now time.Time) (ok, trial bool) {
	held, trial := c.isHeld(now)
	return !held && !c.isPaused(now), trial
}

func (c *Crawler) isHeld(now time.Time) (held, trial bool) {
	s := &c.pause
	s.mu.Lock()
	// The check is further off only if the clock was set back.
	check, was, brief := !now.Before(s.checkAt) || s.checkAt.Sub(now) > holdTime, s.held, s.brief
	switch { // so that other workers do not check too
	case check && was != "":
		s.checkAt = now.Add(holdTime)
	case check:
		s.checkAt = now.Add(spaceEvery)
	}
	s.mu.Unlock()
	if !check {
		return was != "", false
	}
	free, err := c.parts.FreeSpace()
	switch minimum := c.minFree(); {
	case err != nil:
		c.hold(now, err)
		return true, false
	case free < minimum:
		c.hold(now, fmt.Errorf("disk is full: %s are free and storage.min_free is %s; free some space or lower it",
			human.Bytes(free), human.Bytes(minimum)))
		return true, false
	}
	if c.uplink.Down() {
		s.mu.Lock()
		s.checkAt = now.Add(spaceEvery) // the uplink itself knows when to probe
		s.mu.Unlock()
		return !c.uplink.MayProbe(now), false
	}
	if was != "" && brief {
		c.endHold()
		return false, false
	}
	return false, was != ""
}

// isPaused reports whether an operator's pause is in force, and ends one whose time is over.
func (c *Crawler) isPaused(now time.Time) bool {
	s := &c.pause
	s.mu.Lock()
	p := s.paused
	s.mu.Unlock()
	if p.Paused == "" {
		return false
	}
	if p.Until.IsZero() || now.Before(p.Until) {
		return true
	}
	c.Resume()
	return false
}

// checksAt returns when the crawl may resume by itself; zero = never. It reports false if the crawl is running.
func (c *Crawler) checksAt() (at time.Time, stopped bool) {
	s := &c.pause
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != "" {
		return s.checkAt, true
	}
	return s.paused.Until, s.paused.Paused != ""
}
