package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// checkedArchive is an archive of five files whose files are checked, by a clock that the test moves.
type checkedArchive struct {
	*audited
	*checker
	at       time.Time
	settings config.Fixity
	lost     string // the file that the operator declared lost
	text     bytes.Buffer
}

func newChecked(t *testing.T) *checkedArchive {
	t.Helper()
	a := &checkedArchive{audited: newAudited(t, "page"), settings: config.Fixity{Daily: 0.5, Rate: 1 << 30}}
	a.at = archivetest.Start.Add(6 * time.Hour)
	a.restart(t)
	return a
}

// restart begins with what is on disk.
func (a *checkedArchive) restart(t *testing.T) {
	t.Helper()
	if a.checker != nil {
		archivetest.Must(t, a.checks.Close())
	}
	a.checker = newChecker(a.audited.dir, "1.0", func() config.Fixity { return a.settings },
		func(file string) bool { return file == a.lost }, func() time.Time { return a.at }, zerolog.New(&a.text))
	t.Cleanup(func() {
		if a.checks != nil {
			_ = a.checks.Close()
		}
	})
}

// steps lets time pass in steps of an hour.
func (a *checkedArchive) steps(t *testing.T, hours int) {
	t.Helper()
	for range hours {
		a.at = a.at.Add(time.Hour)
		_, err := a.step(t.Context())
		archivetest.Must(t, err)
	}
	a.show(nil)
}

// events returns which files were checked, in order: their numbers, and the outcome if it is not "same".
func (a *checkedArchive) events(t *testing.T) (all string) {
	t.Helper()
	for line := range strings.Lines(archivetest.Read(t, filepath.Join(a.audited.dir, fixity.LogName))) {
		for n, file := range a.audited.files {
			if strings.Contains(line, `"file":"`+filepath.Base(file)+`"`) {
				all += string(rune('0' + n))
			}
		}
		for _, outcome := range []string{"changed", "short", "gone", "unreadable"} {
			if strings.Contains(line, `"outcome":"`+outcome+`"`) {
				all += outcome + " "
			}
		}
	}
	return all
}

// Half of five files a day is one each 9.6 hours. The oldest check comes first, also after a restart.
func TestFilesAreCheckedInTurnAndEachCheckIsRecorded(t *testing.T) {
	t.Parallel()
	a := newChecked(t)
	a.steps(t, 24)
	if got := a.events(t); got != "01" {
		t.Errorf("in a day the files %q were checked, want 01", got)
	}
	a.restart(t)
	a.steps(t, 2*24)
	if got := a.events(t); got != "0123401" {
		t.Errorf("in three days the files %q were checked, want 0123401", got)
	}
	var last fixity.Event
	lines := strings.Split(archivetest.Read(t, filepath.Join(a.audited.dir, fixity.LogName)), "\n")
	archivetest.Must(t, json.Unmarshal([]byte(lines[1]), &last))
	if !strings.HasPrefix(last.Agent, "arcrawl/1.0 on ") || len(last.SHA256) != 64 || last.Outcome != fixity.Same {
		t.Errorf("the first check is %+v", last)
	}
	if s := a.State(); s.Files != 5 || s.Failed != 0 || s.Last == nil || !s.Oldest.Before(*s.Last) {
		t.Errorf("the state is %+v", s)
	}
	a.settings.Daily = 0
	a.steps(t, 48)
	if s := a.State(); a.events(t) != "0123401" || s.Files != 0 {
		t.Errorf("files are checked although fixity.daily is 0%%: %q, %+v", a.events(t), s)
	}
}

// A damaged file is found at its turn, and is fine again when a sound copy replaces it.
func TestADamagedFileIsNamedUntilItIsReplaced(t *testing.T) {
	t.Parallel()
	a := newChecked(t)
	file := a.audited.files[0]
	sound := archivetest.Read(t, file)
	archivetest.Must(t, os.WriteFile(file, []byte(sound[:70]+string(sound[70]^1)+sound[71:]), 0o600))
	a.steps(t, 24)
	s := a.State()
	if got := a.events(t); got != "0changed 1" || s.Failed != 1 || !strings.Contains(s.Example, filepath.Base(file)+" has SHA-256 ") {
		t.Errorf("the events are %q, the state is %+v", got, s)
	}
	if n := strings.Count(a.text.String(), "a WARC file differs from the manifest"); n != 1 {
		t.Errorf("the log names the file %d times:\n%s", n, a.text.String())
	}
	a.lost = filepath.Base(file)
	a.show(nil)
	if s := a.State(); s.Failed != 0 {
		t.Errorf("a file that was declared lost is still a trouble: %+v", s)
	}
	a.lost = ""
	a.restart(t)
	a.steps(t, 1)
	if s := a.State(); s.Failed != 1 {
		t.Errorf("a restart forgets the damaged file: %+v", s)
	}
	archivetest.Must(t, os.WriteFile(file, []byte(sound), 0o600))
	a.steps(t, 1)
	if s := a.State(); s.Failed != 0 || !strings.HasSuffix(a.events(t), "0changed 0") {
		t.Errorf("after a sound copy is back: %q, %+v", a.events(t), s)
	}
}

// Files that are gone, or elsewhere, have an alarm of their own. A link to a disk that is not mounted has not.
func TestWhichFilesAreChecked(t *testing.T) {
	t.Parallel()
	a := newChecked(t)
	below := filepath.Join(a.audited.dir, "2026")
	archivetest.Must(t, errors.Join(os.Remove(a.audited.files[0]), os.Mkdir(below, 0o750),
		os.Rename(a.audited.files[1], filepath.Join(below, filepath.Base(a.audited.files[1]))),
		os.Remove(a.audited.files[2]), os.Symlink("/not/mounted", a.audited.files[2])))
	a.steps(t, 24)
	if got, s := a.events(t), a.State(); got != "12gone " || s.Files != 4 || s.Failed != 1 {
		t.Errorf("the events are %q, the state is %+v", got, s)
	}
	archivetest.Must(t, os.Remove(a.audited.files[2]))
	a.steps(t, 1)
	if s := a.State(); s.Failed != 0 {
		t.Errorf("a file that is gone is not the matter of the alarm lost alone: %+v", s)
	}
}

// The end of the daemon interrupts a check. The next start makes it again, and a line that a kill has cut is gone.
func TestAnInterruptedCheckIsMadeAgain(t *testing.T) {
	t.Parallel()
	a := newChecked(t)
	a.settings.Rate = 64 << 10
	a.at = a.at.Add(12 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.step(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted check ends with %v", err)
	}
	a.steps(t, 1)
	log := filepath.Join(a.audited.dir, fixity.LogName)
	whole := archivetest.Read(t, log)
	archivetest.Must(t, os.WriteFile(log, []byte(whole+whole[len(whole)-40:len(whole)-2]), 0o600))
	a.restart(t)
	a.steps(t, 10)
	if got := a.events(t); got != "01" || !strings.HasPrefix(archivetest.Read(t, log), whole) {
		t.Errorf("the events are %q, want 01", got)
	}
	line{[]string{"verify", a.audited.dir}, cli.ExitOK, []string{"0 errors, 0 warnings"}}.run(t)
	archivetest.Must(t, os.WriteFile(log, []byte(strings.Replace(whole, `"outcome":"same"`, `"outcome":"gone"`, 1)+whole[len(whole)-len(strings.SplitAfter(whole, "\n")[1]):]), 0o600))
	line{[]string{"verify", a.audited.dir}, cli.ExitDamaged, []string{"fixity.jsonl: error: line 3 does not follow"}}.run(t)
}

// A check must leave the disk to the crawl.
func TestACheckReadsSlowly(t *testing.T) {
	t.Parallel()
	a := newChecked(t)
	file := filepath.Join(t.TempDir(), "large")
	archivetest.Must(t, os.WriteFile(file, make([]byte, 200_000), 0o600))
	f, err := os.Open(file)
	archivetest.Must(t, err)
	defer f.Close() //nolint:errcheck // nothing was written
	begin := time.Now()
	n, err := fixity.Copy(t.Context(), &a.text, slowly(t.Context(), f, 1_000_000))
	if took := time.Since(begin); err != nil || n != 200_000 || took < 190*time.Millisecond {
		t.Errorf("%d bytes are read in %s, %v; want 200,000 in 200 ms", n, took, err)
	}
}
