package noise

import (
	"context"
	"errors"
	"slices"

	"github.com/arcrawl/arcrawl/archive/captures"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/noise/infer"
	"github.com/arcrawl/arcrawl/uri"
)

// The newest versions in which rules for a whole page are looked for: their number and their bytes together. A parsed
// page takes many times its bytes.
const (
	maxCompared = 20
	maxBytes    = 8 << 20
)

// suggest returns rules that silence a page which differs at each fetch, from its newest versions.
func (w work) suggest(ctx context.Context, u uri.URI) (out IgnoreProposal, err error) {
	out = IgnoreProposal{Rules: []ScrubRule{}, Problem: captures.NoIndex}
	if w.archive == nil {
		return out, nil
	}
	spec := w.inForce(u)
	err = w.read(func(l *captures.Library) error {
		all, _, err := l.Newest(u.String(), captures.MaxNewest)
		if err != nil {
			return err
		}
		out, err = suggest(ctx, l, all, spec, w.ended(ctx))
		return err
	})
	return out, err
}

// suggest returns rules that silence a page, without those in force, which spec has. all has its captures, oldest
// first. Versions that cannot be read are skipped. The search ends with the error of ended.
func suggest(
	ctx context.Context, l *captures.Library, all []captures.Entry, spec digest.Spec, ended func() error,
) (IgnoreProposal, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(e captures.Entry) bool { return e.Status != "200" })
	read := newest(ctx, l, all[max(0, len(all)-maxCompared):], maxBytes)
	if ctx.Err() != nil {
		return IgnoreProposal{}, context.Cause(ctx)
	}
	found, err := infer.Suggest(ended, read)
	out := IgnoreProposal{Rules: append([]ScrubRule{}, rulesOf(found.Regexes, found.Selectors)...)}
	out.Rules = slices.DeleteFunc(out.Rules, func(r ScrubRule) bool {
		return r.Kind == expression && slices.Contains(spec.Regexes, r.Rule) ||
			r.Kind == selector && slices.Contains(spec.Selectors, r.Rule)
	})
	switch {
	case errors.Is(err, infer.ErrTooFew), errors.Is(err, infer.ErrApart):
		out.Problem = "The archive has no two fetches of one moment and too few versions to tell noise from news. " +
			"Wait for a second look of the crawl, or use arcrawl scrub suggest --fetch."
		return out, nil
	case errors.Is(err, errSlow):
		out.Problem = "No rule was found: " + err.Error() + ". Use arcrawl scrub suggest, which has no limit."
		return out, nil
	case err != nil:
		return out, err
	case len(out.Rules) > maxTried:
		out.Rules = out.Rules[:maxTried]
	case len(out.Rules) == 0:
		out.Problem = "No narrow rule was found: what differs may be news, or nothing around it says where it is. " +
			"Compare two versions of the page, and ignore single differences."
	}
	return out, nil
}

// newest returns the versions of a page that can be read, oldest first. It leaves out older versions if all together
// have more than most bytes, except the newest two.
func newest(ctx context.Context, l *captures.Library, found []captures.Entry, most int) (read []aspect.Version) {
	size := 0
	for _, e := range slices.Backward(found) {
		content, mime, err := captures.ReadContent(ctx, l, e)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			continue
		}
		if size += len(content); size > most && len(read) >= 2 {
			break
		}
		read = append(read, aspect.Version{Date: e.Date(), MIME: mime, Content: content})
	}
	slices.Reverse(read)
	return read
}
