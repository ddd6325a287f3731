package curator

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/arcrawl/arcrawl/archive/captures"

	"github.com/aymanbagabas/go-udiff"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Plan sets the settings of an order in its text, and returns the faults of the result, the change of the file and the
// effect on the crawl. It writes nothing.
func (w editor) Plan(o EditOrder) (EditPlan, error) {
	f, err := w.open(o.Name)
	if err != nil {
		return EditPlan{}, err
	}
	out, _, err := w.plan(f, o)
	return out, err
}

// plan returns the plan of an order, and the new text of the file; nil removes the file.
func (w editor) plan(f file, o EditOrder) (out EditPlan, text []byte, err error) {
	out = EditPlan{Path: f.path, Text: o.Text, Faults: []config.Fault{}, Fields: []EditField{}}
	if o.Digest != f.digest() {
		out.OnDisk = &EditOnDisk{Exists: f.exists, Digest: f.digest(), Text: string(f.text)}
		out.Fields = w.fields(f.name, o.Text)
		return out, nil, nil
	}
	text = []byte(o.Text)
	switch {
	case o.Remove && (f.name == "" || !f.exists):
		return out, nil, admin.Fault("only the file of a host can be removed")
	case o.Remove:
		text = nil
	case len(text) > maxText:
		return out, nil, admin.Fault("the text has more than 1 MB; edit the file on disk")
	default:
		for _, key := range slices.Sorted(maps.Keys(o.Settings)) {
			changed, err := set(text, key, o.Settings[key])
			if err != nil {
				out.Problem = fmt.Sprintf("%s: %v", key, err)
				break
			}
			text = changed
		}
		text = withLineEnds(f.text, text)
		out.Text = string(text)
		out.Fields = w.fields(f.name, out.Text)
		out.Faults = append(out.Faults, misleading(f.path, out.Text)...)
	}
	out.Diff = captures.Harmless(udiff.Unified(f.path, f.path+" (new)", string(f.text), string(text)))
	if len(out.Faults) > 0 || out.Problem != "" {
		return out, text, nil
	}
	effect, err := w.Effect(w.staged(map[string][]byte{f.name: text}))
	if faults := faultsOf(err); len(faults) > 0 {
		out.Faults = faults
		return out, text, nil
	}
	if err != nil {
		return out, text, err
	}
	out.Plan = w.planOf(effect, filepath.Base(f.path))
	out.Plan.Warnings = append(out.Plan.Warnings, overruledNow(f, text)...)
	return out, text, nil
}

// withLineEnds returns a text with the line ends of the text before it, because browsers know only one kind.
func withLineEnds(before, text []byte) []byte {
	if !bytes.Contains(before, []byte("\r\n")) || bytes.Contains(text, []byte("\r\n")) {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}

// Save writes what [editor.Plan] shows, unless the file is not as it was, or the new text has faults: then the plan
// says so, and nothing is written. Nobody else writes before the change is committed, so that no commit has two
// changes.
func (w editor) Save(o EditOrder) (EditSaved, error) {
	w.Writing.Lock()
	defer w.Writing.Unlock()
	f, err := w.open(o.Name)
	if err != nil {
		return EditSaved{}, err
	}
	plan, text, err := w.plan(f, o)
	switch {
	case err != nil:
		return EditSaved{}, err
	case plan.OnDisk != nil && !plan.OnDisk.Exists:
		return EditSaved{}, admin.Fault("%s was removed by somebody else meanwhile; nothing was written; check again", f.path)
	case plan.OnDisk != nil:
		return EditSaved{}, admin.Fault("%s was changed by somebody else meanwhile; nothing was written; check again", f.path)
	case plan.Problem != "":
		return EditSaved{}, admin.Fault("%s; nothing was written", plan.Problem)
	case len(plan.Faults) > 0:
		return EditSaved{}, admin.Fault("%s would have faults; nothing was written; check again", f.path)
	case plan.Diff == "" && !o.Remove:
		return EditSaved{}, admin.Fault("%s would be the same as before; nothing was written", f.path)
	}
	if o.Remove {
		err = moveAside(f.path, w.Now.UTC().Format("20060102T150405.000"))
	} else {
		err = write(f, text)
	}
	if err != nil {
		return EditSaved{}, admin.Fault("write %s: %w; nothing was changed%s",
			f.path, err, remedy(err, filepath.Dir(f.path)))
	}
	out := EditSaved{Saved: true, File: f.path}
	for line := range strings.Lines(plan.Diff) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			out.Added++
		case strings.HasPrefix(line, "-"):
			out.Removed++
		}
	}
	if w.Commit != nil {
		what := "changed"
		if o.Remove {
			what = "removed"
		}
		out.Committed = w.Commit(filepath.Base(f.path)+": "+what+" in the dashboard", f.path)
	}
	return out, nil
}

// write replaces a file as a whole.
func write(f file, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o750); err != nil {
		return err
	}
	return fileio.Edit(f.path, text)
}

// moveAside renames a file so that it is not read any more. A file that was moved aside before stays, under the name
// with the time.
func moveAside(path, now string) error {
	aside := path + api.RemovedSuffix
	if _, err := os.Lstat(aside); err == nil {
		if err := os.Rename(aside, aside+"-"+now); err != nil {
			return err
		}
	}
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	return fileio.SyncDir(filepath.Dir(path))
}

// remedy returns what to do about a file that cannot be written.
func remedy(err error, dir string) string {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "; the daemon may not write " + dir + ": allow it, with ReadWritePaths= in a drop-in of its systemd unit"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "; free some space on the disk and save again"
	}
	return ""
}
