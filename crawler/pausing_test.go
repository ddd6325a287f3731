package crawler

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// onDisk returns a crawler whose disk has that many free bytes.
func onDisk(free func() (int64, error)) *Crawler {
	return &Crawler{
		parts: Parts{FreeSpace: free, Config: config.NewLive(new(config.Config))},
		wake:  make(chan struct{}, 1), broken: make(chan error, 1),
	}
}

// A disk that fails holds the crawl. If it fails for a minute, the process must be started again: a file system that is
// read-only after an error cannot be repaired while its files are open. A full disk is waited for without end.
func TestADiskThatFailsForAMinuteIsGivenUp(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		faults []syscall.Errno // each ten seconds after the one before; 0 is a visit that succeeds
		at     int             // the fault with which the crawl is given up; -1 = never
	}{
		"write errors":              {[]syscall.Errno{5, 5, 5, 5, 5, 5, 5}, 6},
		"read-only after an error":  {[]syscall.Errno{5, syscall.EROFS, syscall.EROFS, syscall.EROFS, 5, 5, 5}, 6},
		"a disk that is well again": {[]syscall.Errno{5, 5, 5, 5, 0, 5, 5, 5, 5}, -1},
		"a full disk":               {repeat(syscall.ENOSPC, 1000), -1},
		"a quota":                   {repeat(syscall.EDQUOT, 1000), -1},
		"another fault in between":  {[]syscall.Errno{5, 5, 5, syscall.ENOSPC, 5, 5, 5, 5}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var given error
			s := onDisk(func() (int64, error) { return 1 << 40, nil })
			for i, errno := range c.faults {
				now := start.Add(time.Duration(i) * 10 * time.Second)
				if errno == 0 {
					s.endHold()
					continue
				}
				s.hold(now, fmt.Errorf("archive http://a.example/: %w", errno))
				select {
				case given = <-s.broken:
				default:
				}
				if want := c.at >= 0 && i >= c.at; (given != nil) != want {
					t.Fatalf("fault %d: given up with %v, want given up: %t", i, given, want)
				}
			}
			if given != nil && !errors.Is(given, syscall.EIO) {
				t.Errorf("given up with %v, want the cause in it", given)
			}
			if s.Status().Held == "" {
				t.Error("the crawl is not held")
			}
		})
	}
}

func repeat(errno syscall.Errno, n int) (list []syscall.Errno) {
	for range n {
		list = append(list, errno)
	}
	return list
}

// A held crawl tries again after ten seconds, also if the clock was set back by a day or ten years meanwhile.
func TestAHeldCrawlTriesAgainAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, jump := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour, -10 * 365 * 24 * time.Hour} {
		s := onDisk(func() (int64, error) { return 1 << 40, nil })
		s.hold(start, syscall.EMFILE)
		if ok, _ := s.mayClaim(start.Add(9 * time.Second)); ok {
			t.Error("the crawl resumes before ten seconds have passed")
		}
		if ok, trial := s.mayClaim(start.Add(10*time.Second + jump)); !ok || !trial {
			t.Errorf("after a jump by %s: MayClaim = %t, %t; want a trial", jump, ok, trial)
		}
	}
}

// TestABriefFaultEndsTheHoldSoon holds the crawl twice: because of a fault that can be looked at again each second, and
// because of another one, after which one visit is a trial.
func TestABriefFaultEndsTheHoldSoon(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		fault  error
		within time.Duration
		trial  bool
	}{
		"brief": {NewBriefFault(errors.New("the database does not answer")), 2 * time.Second, false},
		"other": {errors.New("the disk is full"), 11 * time.Second, true},
	} {
		fault := c.fault
		s := onDisk(func() (int64, error) { return 1 << 40, fault })
		if ok, _ := s.mayClaim(start); ok {
			t.Errorf("%s: a URI may be claimed", name)
		}
		// Only what this machine is to blame for makes another node crawl instead.
		if why, since := s.Status().Fault(); (why != "") != c.trial || c.trial && !since.Equal(start) {
			t.Errorf("%s: the fault of this machine is %q since %s", name, why, since)
		}
		s.Pause("maintenance", start, time.Time{})
		if why, _ := s.Status().Fault(); why != "" {
			t.Errorf("%s: a crawl that is paused has the fault %q", name, why)
		}
		s.Resume()
		fault = nil
		now := start
		for ok := false; !ok; ok, _ = s.mayClaim(now) {
			if now = now.Add(100 * time.Millisecond); now.Sub(start) > time.Minute {
				t.Fatalf("%s: the crawl is held", name)
			}
		}
		if took := now.Sub(start); took > c.within || took < c.within/2 {
			t.Errorf("%s: the hold ended after %v, want at most %v", name, took, c.within)
		}
		if held := s.Status().Held != ""; held != c.trial {
			t.Errorf("%s: held until a trial: %t, want %t", name, held, c.trial)
		}
	}
}
