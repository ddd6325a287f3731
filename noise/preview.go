package noise

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/digest"
)

// The bounds of a preview.
const (
	maxVersions = 10
	maxSamples  = 3
	maxSample   = 200 // bytes
)

// preview adds to a preview what rules would have hidden in the newest versions. versions has the versions of a
// URI, oldest first. spec has the rules in force.
func preview(
	ctx context.Context, l *captures.Library, versions []captures.Entry, spec digest.Spec, wanted []ScrubRule,
	out *IgnorePreview,
) error {
	now, err := digest.Compile(spec)
	if err != nil {
		return err
	}
	later, err := digest.Compile(with(spec, wanted))
	if err != nil {
		return err
	}
	only, err := digest.Compile(with(digest.Spec{}, wanted))
	if err != nil {
		return err
	}
	versions = slices.DeleteFunc(slices.Clone(versions), func(e captures.Entry) bool { return e.Status != "200" })
	out.Versions = []HiddenParts{}
	var before [2]digest.Digest // of the version before: now, and with the rules
	known := false
	for _, e := range versions[max(0, len(versions)-maxVersions):] {
		content, mime, err := captures.ReadContent(ctx, l, e)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			lost := HiddenParts{Date: e.Date(), Samples: []string{}, Problem: captures.Sentence(err)}
			out.Versions = append(out.Versions, lost)
			continue
		}
		out.Versions = append(out.Versions, hiddenIn(ctx, content, mime, only))
		out.Versions[len(out.Versions)-1].Date = e.Date()
		sums := [2]digest.Digest{digest.Of(now.Scrub(content, mime)), digest.Of(later.Scrub(content, mime))}
		if known {
			out.Pairs++
			if sums[0] != before[0] {
				out.Differ++
			}
			if sums[1] != before[1] {
				out.Left++
			}
		}
		before, known = sums, true
	}
	slices.Reverse(out.Versions)
	return nil
}

// hiddenIn returns the parts of a content that rules hide.
func hiddenIn(ctx context.Context, content []byte, mime string, rules *digest.Rules) HiddenParts {
	text, marks, err := captures.Marks(ctx, rules, content, mime)
	out := HiddenParts{Parts: len(marks), Samples: []string{}}
	if err != nil {
		out.Problem = "The rules take too long on this version."
	}
	for _, m := range marks[:min(len(marks), maxSamples)] {
		sample := string(text[m.From:m.To])
		if len(sample) > maxSample {
			end := maxSample
			for !utf8.RuneStart(sample[end]) {
				end--
			}
			sample = sample[:end] + " …"
		}
		out.Samples = append(out.Samples, captures.Harmless(sample))
	}
	return out
}
