// This file lists the archived versions of a URI for the dashboard, and says where a browser can see them.

package curator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// maxListed is the maximum number of versions in a list: the newest.
const maxListed = 1000

// catalog answers questions about versions. Its methods are safe for concurrent use.
type catalog struct {
	Archive *captures.LiveReader // nil: there is no live index
	Tickets *tickets
	Site    playerAddress
	Config  func() *config.Config // in force
}

// With calls do with the archive as somebody with a role may see it.
func (c *catalog) With(role access.Role, now time.Time, do func(*captures.Library) error) error {
	return c.Archive.With(now, func(l *captures.Library) error { return do(seenBy(role, l, c.Config(), now)) })
}

// seenBy returns a library as somebody with a role may see it.
func seenBy(role access.Role, l *captures.Library, inForce *config.Config, now time.Time) *captures.Library {
	return l.Except(admin.EmbargoFor(role, inForce, now), inForce.WARC.Prefix)
}

// List returns the versions of a URI, newest first.
func (c *catalog) List(role access.Role, u uri.URI, now time.Time) (Versions, error) {
	out := Versions{URI: u.String(), Versions: []Version{}}
	if c.Archive == nil {
		out.Problem = captures.NoIndex
		return out, nil
	}
	err := c.With(role, now, func(l *captures.Library) error {
		newest, count, err := l.Newest(u.String(), maxListed+1)
		if out.Count = count; err != nil {
			return err
		}
		if n := l.Unindexed(); n > 0 {
			out.Problem = fmt.Sprintf("%d WARC files are in no index, and their versions are not listed: run arcrawl index.", n)
		}
		for i, e := range newest {
			before := index.Entry{}
			if i > 0 {
				before = newest[i-1]
			}
			out.Versions = append(out.Versions, versionAfter(before, e))
		}
		return nil
	})
	if err == nil {
		out.Picture, err = c.Rendered(role, u.String(), now)
	}
	slices.Reverse(out.Versions)
	out.Versions = out.Versions[:min(len(out.Versions), maxListed)]
	return out, err
}

// versionAfter describes a capture and compares it with the one before, which may be zero.
func versionAfter(before, e index.Entry) Version {
	v := versionOf(e, before.URL == "" || e.Digest != before.Digest)
	if before.URL != "" {
		v.Links.Compare = compareLink(before, e)
	}
	return v
}

// versionOf describes a capture.
func versionOf(e index.Entry, changed bool) Version {
	v := Version{
		At: e.Timestamp, Date: e.Date(), Status: e.Status, Type: e.MIME, Changed: changed,
		File: e.Filename, Offset: e.Offset,
	}
	if e.MIME == index.RevisitMIME {
		v.Revisit, v.Type = true, ""
	}
	named := "?u=" + url.QueryEscape(e.URL) + "&at=" + e.Timestamp
	v.Links.View, v.Links.Record, v.Links.Package = "/#/view"+named, "/#/record"+named, "/#/packages"+named
	return v
}

// compareLink returns the address of the comparison of two captures.
func compareLink(before, after index.Entry) string {
	return "/#/compare?u=" + url.QueryEscape(after.URL) + "&before=" + before.Timestamp + "&at=" + after.Timestamp
}

// nearest does something with the capture of an address that is nearest to a timestamp.
func (c *catalog) nearest(
	role access.Role, address, at string, now time.Time, do func(*captures.Library, index.Entry) error,
) error {
	return c.With(role, now, func(l *captures.Library) error {
		e, err := l.NearestTo(address, at)
		if err != nil {
			return err
		}
		return do(l, e)
	})
}

// View returns where a browser can see the capture of a URI that is nearest to a timestamp. It is for the caller of a
// request, who reached the dashboard under the name in the request.
func (c *catalog) View(r *http.Request, u uri.URI, at string, now time.Time) (View, error) {
	out := View{URI: u.String()}
	if c.Archive == nil {
		out.Problem = captures.NoIndex
		return out, nil
	}
	caller := access.CallerOf(r.Context())
	err := c.nearest(caller.Role, u.String(), at, now, func(l *captures.Library, e index.Entry) error {
		p, err := l.PlaceOf(e)
		if err != nil {
			return err
		}
		out.URI, out.Number, out.Count = e.URL, p.Number, p.Count // the URI may be another one with the same key
		out.Version, out.Earlier, out.Later = versionAfter(p.Before, e), p.Before.Timestamp, p.After.Timestamp
		if _, err := l.Playable(r.Context(), e); err != nil {
			out.Problem = captures.Sentence(err)
		}
		return nil
	})
	if err != nil || out.Problem != "" {
		return out, err
	}
	origin, problem := c.Site.Origin(r.Host)
	if problem != "" {
		out.Problem = problem
		return out, nil
	}
	out.NoScripts = sharesCookies(r.Host, origin)
	ticket := c.Tickets.Issue(holder(caller), caller.Role, out.URI, out.Version.At, !out.NoScripts, now)
	out.Frame = origin + "/open/" + ticket + "/" + out.Version.At + "/" + out.URI
	return out, nil
}

// Frames returns the origin of the player for the policy of the dashboard, or "".
func (c *catalog) Frames(r *http.Request) string {
	origin, _ := c.Site.Origin(r.Host)
	return origin
}

// Compare compares the captures of a URI that are nearest to two timestamps. Without the first, it is the capture
// before. Rules for scrubbing of the configuration hide differences.
func (c *catalog) Compare(
	ctx context.Context, role access.Role, u uri.URI, before, after, what string, now time.Time,
) (out Comparison, err error) {
	if c.Archive == nil {
		none := captures.Comparison{What: what, Rows: []captures.CompareRow{}, Problem: captures.NoIndex}
		return Comparison{URI: u.String(), Comparison: none}, nil
	}
	spec := c.Config().Scrubbing(config.About{URI: u, Now: now})
	spec.Text = false
	err = c.With(role, now, func(l *captures.Library) error {
		right, err := l.NearestTo(u.String(), after)
		if err != nil {
			return err
		}
		p, err := l.PlaceOf(right)
		if err != nil {
			return err
		}
		left := right
		if before != "" {
			if left, err = l.NearestTo(u.String(), before); err != nil {
				return err
			}
		} else if p.Before.URL != "" {
			left = p.Before
		}
		out.Comparison, err = captures.Compare(ctx, l, left, right, what, spec)
		if left == right && out.Problem == "" {
			out.Problem, out.Rows = "There is no version before this one.", []captures.CompareRow{}
		}
		out.URI = right.URL
		out.Before, out.After = versionOf(left, true), versionOf(right, left.Digest != right.Digest)
		if err == nil && out.What == captures.Text && out.Problem == "" {
			out.Embeds, err = changedEmbeds(ctx, l, left, right)
		}
		return err
	})
	return out, err
}

// maxChanged is the maximum number of embeds of a page that are compared.
const maxChanged = 100

// changedEmbeds returns what the later one of two captures of a page embeds whose contents differ between them.
func changedEmbeds(
	ctx context.Context, l *captures.Library, before, after index.Entry,
) (list []ChangedEmbed, err error) {
	page, err := uri.Parse(after.URL)
	if err != nil {
		return nil, nil //nolint:nilerr // only web pages embed something
	}
	embeds, err := embedsOf(ctx, l, after, page)
	for _, u := range embeds[:min(len(embeds), maxChanged)] {
		old, errOld := l.NearestTo(u.String(), before.Timestamp)
		recent, errNew := l.NearestTo(u.String(), after.Timestamp)
		if isMissing(errOld) || isMissing(errNew) {
			continue
		}
		if err = errors.Join(errOld, errNew, ctx.Err()); err != nil {
			return list, err
		}
		if old.Digest != recent.Digest {
			list = append(list, ChangedEmbed{URI: u.String(), Type: recent.MIME, Compare: compareLink(old, recent)})
		}
	}
	return list, err
}

// fullPage begins the address of the record with the picture of a rendered page; see the wing render.
const fullPage = "urn:fullPage:"

// Rendered returns the timestamp of the newest picture of a rendered page; "" if there is none.
func (c *catalog) Rendered(role access.Role, page string, now time.Time) (at string, err error) {
	if c.Archive == nil {
		return "", nil
	}
	err = c.nearest(role, fullPage+page, "", now, func(_ *captures.Library, e index.Entry) error {
		at = e.Timestamp
		return nil
	})
	if isMissing(err) {
		err = nil
	}
	return at, err
}

// isMissing reports whether an error says that there is no such version, or that it is not a picture.
func isMissing(err error) bool {
	return errors.Is(err, warc.ErrNotFound) || errors.Is(err, captures.ErrNoPicture)
}
