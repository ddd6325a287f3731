package curator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/captures"

	"github.com/aymanbagabas/go-udiff"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Bounds of a change of many files.
const (
	maxFiles = 5000
	maxDiffs = 20
)

// ofOneSite are the settings of the form that several sites never share.
var ofOneSite = []string{"title", "seeds.uris", aboutKey, "feeds.uris", "feeds.sitemaps", "scope.prefixes"}

// shared returns the settings of the form that several files can get at once.
func (w editor) shared() []EditField {
	all := w.fields("new.toml", "")
	return slices.DeleteFunc(all, func(f EditField) bool { return slices.Contains(ofOneSite, f.Key) })
}

// changed is a file with its new text.
type changed struct {
	file
	to []byte
}

// PlanMany returns the change of several files, its faults and its effect on the crawl. It writes nothing.
func (w editor) PlanMany(o ManyOrder) (ManyPlan, error) {
	p, _, err := w.planMany(o)
	return p, err
}

func (w editor) planMany(o ManyOrder) (p ManyPlan, texts []changed, err error) {
	p = ManyPlan{Diffs: []ManyDiff{}, Left: []ManyLeft{}, Faults: []config.Fault{}}
	switch {
	case len(o.Files) == 0:
		return p, nil, admin.Fault("no host file is chosen")
	case len(o.Files) > maxFiles:
		return p, nil, admin.Fault("%d host files are too many; choose at most %d", len(o.Files), maxFiles)
	case len(o.Settings) == 0:
		return p, nil, admin.Fault("no setting is chosen")
	}
	sum := sha256.New()
	names := slices.Clone(o.Files)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == "" {
			return p, nil, admin.Fault("the main file is not the file of a host")
		}
		f, err := w.open(name)
		if err == nil && !f.exists {
			err = admin.Fault("there is no file %s; somebody may have removed or renamed it", f.path)
		}
		text := bytes.ReplaceAll(f.text, []byte("\r\n"), []byte("\n"))
		for _, s := range o.Settings {
			if err == nil {
				if text, err = w.put(text, s); err != nil {
					err = fmt.Errorf("%s: %w", s.Key, err)
				}
			}
		}
		text = withLineEnds(f.text, text)
		switch {
		case err != nil:
			p.Left = append(p.Left, ManyLeft{Name: name, Why: err.Error()})
		case bytes.Equal(text, f.text):
			p.Same++
		default:
			fmt.Fprintf(sum, "%q %q %q\n", name, f.text, text)
			texts = append(texts, changed{f, text})
		}
	}
	p.Files, p.Digest = len(texts), "sha256:"+hex.EncodeToString(sum.Sum(nil))
	return p, texts, w.effectOfMany(&p, texts)
}

// effectOfMany adds the differences of files, their faults and their effect to a plan.
func (w editor) effectOfMany(p *ManyPlan, texts []changed) error {
	if len(texts) == 0 {
		return nil
	}
	staged := map[string][]byte{}
	var names []string
	for _, c := range texts {
		names = append(names, c.name)
		staged[c.name] = c.to
		p.Faults = append(p.Faults, misleading(c.path, string(c.to))...)
		if len(p.Diffs) < maxDiffs {
			diff := captures.Harmless(udiff.Unified(c.path, c.path+" (new)", string(c.text), string(c.to)))
			p.Diffs = append(p.Diffs, ManyDiff{Name: c.name, Diff: diff})
		}
	}
	if len(p.Faults) > 0 {
		p.Faults = p.Faults[:min(len(p.Faults), maxFaults)]
		return nil
	}
	effect, err := w.Effect(w.staged(staged))
	if p.Faults = append(p.Faults, faultsOf(err)...); len(p.Faults) > 0 {
		return nil
	}
	if err != nil {
		return err
	}
	p.Plan = w.planOf(effect, names...)
	for _, c := range texts {
		p.Plan.Warnings = append(p.Plan.Warnings, overruledNow(c.file, c.to)...)
	}
	return nil
}

// put returns a text with another value of a setting that several files can have.
func (w editor) put(text []byte, s ManySetting) ([]byte, error) {
	fields := w.shared()
	i := slices.IndexFunc(fields, func(f EditField) bool { return f.Key == s.Key })
	if i < 0 {
		return nil, admin.Fault("this is not a setting that several files get at once; edit the file of each host")
	}
	if s.How == manySet {
		return set(text, s.Key, s.Value)
	}
	if fields[i].Kind != kindLines || s.Key == "note" || s.How != manyAdd && s.How != manyRemove {
		return nil, admin.Fault("it is no list, so nothing is added or removed; set its value")
	}
	doc := schema.Parse(text, "the file")
	if len(doc.Faults) > 0 {
		return nil, admin.Fault("the file has a fault: %s", doc.Faults[0].Problem)
	}
	before, _ := doc.Value(schema.Path("").Key(s.Key)).([]any)
	all := make([]string, 0, len(before))
	for _, e := range before {
		all = append(all, formValue(e))
	}
	after := slices.Clone(all)
	for _, e := range linesOf(s.Value) {
		after = slices.DeleteFunc(after, func(x string) bool { return x == e && s.How == manyRemove })
		if s.How == manyAdd && !slices.Contains(after, e) {
			after = append(after, e)
		}
	}
	switch {
	case slices.Equal(all, after):
		return text, nil
	case len(after) == 0:
		return unsetKey(text, s.Key)
	}
	return setKey(text, s.Key, listOf(after))
}

// SaveMany writes what [editor.PlanMany] shows, unless one of the files is not as it was, or a new text has faults:
// then nothing is written. The old texts are stored, so that undoing the last import of seeds restores them.
func (w editor) SaveMany(o ManyOrder) (ManyPlan, error) {
	w.Writing.Lock()
	defer w.Writing.Unlock()
	p, texts, err := w.planMany(o)
	switch {
	case err != nil:
		return p, err
	case p.Digest != o.Digest:
		return p, admin.Fault("somebody else has changed one of the host files meanwhile; nothing was written; check again")
	case len(p.Faults) > 0:
		return p, admin.Fault("the host files would have faults; nothing was written; check again")
	case len(texts) == 0:
		return p, admin.Fault("no host file would change; nothing was written")
	}
	files := configFiles{Path: w.Config.Path, Dir: w.Config.HostsDir, Texts: map[string][]byte{}}
	to := make(map[string][]byte, len(texts))
	var paths, keys []string
	for _, c := range texts {
		files.Texts[c.name], to[c.name] = c.text, c.to
		paths = append(paths, filepath.Join(w.Config.HostsDir, c.name))
	}
	for _, s := range o.Settings {
		keys = append(keys, s.Key)
	}
	what := strings.Join(keys, ", ") + " of " + human.Count(len(texts), "host file") + " changed in the dashboard"
	if err := files.Write(to, what+" by "+w.Who.Name, w.Now); err != nil {
		return p, admin.Fault("%w%s", err, remedy(err, w.Config.HostsDir))
	}
	p.Saved = true
	if w.Commit != nil {
		p.Committed = w.Commit(what, paths...)
	}
	return p, nil
}
