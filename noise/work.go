package noise

import (
	"context"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// work answers the requests about one URI.
type work struct {
	archive *captures.LiveReader // nil: there is no live index
	embargo config.Embargo       // that the caller has to keep
	config  *config.Config
	plan    func(api.Staged) (whatif.Plan, error) // the effect of a changed file; an error if it would have faults
	reading *sync.Mutex                           // held while versions are read
	now     time.Time
	clock   func() time.Time // for bounds of time
}

// inForce returns the scrubbing rules in force for a URI.
func (w work) inForce(u uri.URI) digest.Spec {
	spec := w.config.Scrubbing(config.About{URI: u, Now: w.now})
	spec.Text = false
	return spec
}

// read calls do with the archive as the caller may see it. Versions of one page are read at a time.
func (w work) read(do func(*captures.Library) error) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	return w.archive.With(w.now, func(l *captures.Library) error {
		return do(l.Except(w.embargo, w.config.WARC.Prefix))
	})
}

// propose returns rules for a row of a comparison.
func (w work) propose(ctx context.Context, u uri.URI, wish IgnoreWish) (out IgnoreProposal, err error) {
	if wish.What != captures.Text && wish.What != captures.Source {
		return out, admin.Fault("what %q: only differences of text and source can be ignored", wish.What)
	}
	out = IgnoreProposal{Rules: []ScrubRule{}, Problem: captures.NoIndex}
	if w.archive == nil {
		return out, nil
	}
	err = w.read(func(l *captures.Library) error {
		var both [2]captures.Entry
		for i, name := range []string{wish.Before, wish.At} {
			if both[i], err = l.NearestTo(u.String(), name); err != nil {
				return err
			}
		}
		p, problem, err := captures.Read(ctx, l, both[0], both[1])
		if out.Problem = problem; err != nil || problem != "" {
			return err
		}
		out, err = propose(ctx, p, wish, w.inForce(u), w.ended(ctx))
		return err
	})
	return out, err
}

// stage returns the host file with rules, and their effect on the crawl.
func (w work) stage(u uri.URI, rules []ScrubRule) (f hostFile, plan whatif.Plan, err error) {
	if err := check(rules); err != nil {
		return f, plan, admin.BadRequest(err)
	}
	f, err = stageRules(w.config, u.Host(), with(digest.Spec{}, rules), w.now)
	if err != nil {
		return f, plan, admin.BadRequest(err)
	}
	if plan, err = w.plan(f.staged()); err != nil {
		err = admin.Fault("%s would not be valid, and is as before: %w", f.path, err)
	}
	return f, plan, err
}

// preview shows what rules would have hidden, and what saving them would change.
func (w work) preview(ctx context.Context, u uri.URI, o IgnoreRules) (out IgnorePreview, err error) {
	f, plan, err := w.stage(u, o.Rules)
	if err != nil {
		return out, err
	}
	out = IgnorePreview{
		Versions: []HiddenParts{}, File: f.path, FileDigest: f.digest(), Diff: captures.Harmless(f.diff()), Plan: plan,
	}
	if w.archive == nil {
		return out, nil
	}
	err = w.read(func(l *captures.Library) error {
		all, _, err := l.Newest(u.String(), captures.MaxNewest)
		if err != nil {
			return err
		}
		return preview(ctx, l, all, w.inForce(u), o.Rules, &out)
	})
	return out, err
}

// save writes rules into the host file. It refuses if the file is not as it was in the preview. The caller makes sure
// that no other request writes host files.
func (w work) save(u uri.URI, o IgnoreRules) (IgnoreSaved, error) {
	f, _, err := w.stage(u, o.Rules)
	if err != nil {
		return IgnoreSaved{}, err
	}
	if o.FileDigest != f.digest() {
		return IgnoreSaved{}, admin.Fault("%s was changed since the preview; nothing was written; look at the preview again",
			f.path)
	}
	if err := f.write(); err != nil {
		return IgnoreSaved{}, admin.Fault("write %s: %w; the daemon needs the right to write host files", f.path, err)
	}
	return IgnoreSaved{File: f.path}, nil
}
