// This file answers which pages have pictures, and what their versions and pictures are on a day. It reads the index of
// the archive, and of it only the lines of the pages and days that are asked for.

package curator

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/uri"
)

// maxFrames is the maximum number of frames of a film strip.
const maxFrames = 500

// frontRoutes returns the requests about pictures of pages.
func (c *curation) frontRoutes() []admin.Route {
	page := admin.Param{Name: "uri", Kind: "string", Doc: admin.URIDoc}
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/fronts", Answer: api.Fronts{}, Params: admin.Filtered(),
			Doc: "Returns the pages of which the archive has pictures.",
			Serve: func(_ *admin.Window, r *http.Request) (any, error) {
				return c.fronts(access.CallerOf(r.Context()).Role, c.window.Chooses(admin.FilterOf(r)))
			},
		},
		{
			Method: "GET", Path: api.Base + "/fronts/month", Answer: FrontMonth{},
			Doc: "Counts the versions and pictures of a page on each day of a month.",
			Params: []admin.Param{
				page, {Name: "month", Kind: "string", Doc: "as 2026-11; empty: the one of the newest picture"},
			},
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) {
				return c.frontMonth(u, r.FormValue("month"), access.CallerOf(r.Context()).Role)
			}),
		},
		{
			Method: "GET", Path: api.Base + "/fronts/day", Answer: FrontDay{},
			Doc: "Returns the versions and pictures of a page on a day.",
			Params: []admin.Param{
				page, {Name: "day", Kind: "string", Doc: "as 2026-11-29, in UTC; empty: the one of the newest picture"},
			},
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) {
				return c.frontDay(u, r.FormValue("day"), access.CallerOf(r.Context()).Role)
			}),
		},
	}
}

// shotRoutes returns the requests about what moved in pictures, and about pictures that are made later.
func (c *curation) shotRoutes() []admin.Route {
	page := admin.Param{Name: "uri", Kind: "string", Doc: admin.URIDoc}
	return []admin.Route{
		{
			Method: "GET", Path: api.Base + "/fronts/moved", Answer: Moved{}, Heavy: true,
			Doc: "Returns what is new and what moved in a picture, compared with an earlier one.",
			Params: []admin.Param{
				page,
				{Name: "at", Kind: "string", Doc: "timestamp of the later picture"},
				{Name: "late", Kind: "boolean", Doc: "it was made later, of the archived page"},
				{Name: "before", Kind: "string", Doc: "timestamp of the earlier picture"},
				{Name: "before_late", Kind: "boolean", Doc: "it was made later"},
				{Name: "before_uri", Kind: "string", Doc: "its page; empty: the same"},
			},
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) { return c.moved(r, u) }),
		},
		{
			Method: "GET", Path: api.Base + "/fronts/picture", Answer: PictureState{},
			Doc: "Returns how far a picture of a version is that was ordered.",
			Params: []admin.Param{
				page, {Name: "at", Kind: "string", Doc: "timestamp of the version"},
			},
			Serve: ofURI(func(r *http.Request, u uri.URI) (any, error) { return c.pictureState(u, r.FormValue("at")), nil }),
		},
		{
			Method: "POST", Path: api.Base + "/fronts/picture", Needs: access.Curate,
			Body: PictureOrder{}, Answer: PictureState{},
			Doc: "Makes a picture of a version that was not rendered, from the archive, in a browser without a network.",
			Serve: func(_ *admin.Window, r *http.Request) (any, error) {
				o, err := admin.Read[PictureOrder](r)
				if err != nil {
					return nil, err
				}
				return c.orderPicture(o, access.CallerOf(r.Context()).Role)
			},
		},
	}
}

// titleOf returns the title of a page: of the seed, or of its site.
func (c *curation) titleOf(u uri.URI) string {
	inForce := c.o.Config().Config
	return cmp.Or(inForce.SeedSite(u).Title, inForce.Site(u.Host()).Title)
}

// fronts returns the pages with pictures that a role may see, on the sites that are chosen.
func (c *curation) fronts(role access.Role, chosen func(uri.Host) bool) (out api.Fronts, err error) {
	out.Pages = []api.FrontPage{}
	if c.catalog.Archive == nil {
		out.Problem = captures.NoIndex
		return out, nil
	}
	known := map[string]bool{}
	err = c.catalog.With(role, c.o.Now(), func(l *captures.Library) error {
		return l.EachKey(uri.ReplayKey(fullPage), func(e index.Entry) bool {
			u, err := uri.Parse(strings.TrimPrefix(e.URL, fullPage))
			if err != nil || known[u.String()] || chosen != nil && !chosen(u.Host()) {
				return true
			}
			known[u.String()] = true
			out.Pages = append(out.Pages, api.FrontPage{URI: u.String(), Host: string(u.Host()), Title: c.titleOf(u)})
			return len(out.Pages) < api.MaxFronts
		})
	})
	out.Pages = api.SortFronts(out.Pages)
	return out, err
}

// during returns the captures of exactly an address whose timestamps begin with a text, oldest first.
func during(l *captures.Library, address, stamps string) ([]index.Entry, error) {
	var list []index.Entry
	err := l.During(address, stamps, func(e index.Entry) {
		if e.URL == address {
			list = append(list, e)
		}
	})
	slices.SortFunc(list, index.Compare)
	return slices.CompactFunc(list, func(a, b index.Entry) bool { return index.Compare(a, b) == 0 }), err
}

// versionsIn returns the captures that differ from the one before, oldest first. Failures are no versions.
func versionsIn(list []index.Entry) (versions []index.Entry) {
	last := ""
	for _, e := range list {
		if e.Status >= "400" || e.Digest == last {
			continue
		}
		if last != "" || e.MIME != index.RevisitMIME {
			versions = append(versions, e)
		}
		last = e.Digest
	}
	return versions
}

// frontMonth counts the versions and pictures of a page on the days of a month.
func (c *curation) frontMonth(u uri.URI, month string, role access.Role) (out FrontMonth, err error) {
	out = FrontMonth{Month: month, Days: []FrontDayCount{}}
	if _, bad := time.Parse("2006-01", month); bad != nil && month != "" {
		return out, admin.Fault("month %q: write it as 2026-11", month)
	}
	if c.catalog.Archive == nil {
		return out, nil
	}
	if out.Last, err = c.lastFront(u, role); err != nil {
		return out, err
	}
	out.Month = cmp.Or(month, out.Last[:min(len(out.Last), len("2026-11"))], c.o.Now().UTC().Format("2006-01"))
	counts := map[string]*FrontDayCount{}
	of := func(e index.Entry) *FrontDayCount {
		day := e.Date().Format(time.DateOnly)
		if counts[day] == nil {
			counts[day] = &FrontDayCount{Day: day}
		}
		return counts[day]
	}
	stamps := strings.ReplaceAll(out.Month, "-", "")
	err = c.catalog.With(role, c.o.Now(), func(l *captures.Library) error {
		pages, err := during(l, u.String(), stamps)
		if err != nil {
			return err
		}
		for _, e := range versionsIn(pages) {
			of(e).Versions++
			if c.shots.late.Has(lateName(u, e.Timestamp)) {
				of(e).Pictures++
			}
		}
		pictures, err := during(l, fullPage+u.String(), stamps)
		for _, e := range pictures {
			of(e).Pictures++
		}
		return err
	})
	for _, count := range counts {
		out.Days = append(out.Days, *count)
	}
	slices.SortFunc(out.Days, func(a, b FrontDayCount) int { return strings.Compare(a.Day, b.Day) })
	return out, err
}

// lastFront returns the day of the newest picture of a page that a role may see; "" if there is none.
func (c *curation) lastFront(u uri.URI, role access.Role) (day string, err error) {
	var last index.Entry
	err = c.catalog.With(role, c.o.Now(), func(l *captures.Library) error {
		return l.During(fullPage+u.String(), "", func(e index.Entry) {
			if e.Timestamp > last.Timestamp && e.URL == fullPage+u.String() {
				last = e
			}
		})
	})
	if last.URL != "" {
		day = last.Date().Format(time.DateOnly)
	}
	return day, err
}

// lateName names the picture that was made later of a version.
func lateName(u uri.URI, at string) string { return shotName("late", u.String(), at) + ".png" }

// frontDay returns the film strip of a page.
func (c *curation) frontDay(u uri.URI, day string, role access.Role) (out FrontDay, err error) {
	out = FrontDay{URI: u.String(), Title: c.titleOf(u), Day: day, Frames: []Frame{}}
	if c.catalog.Archive == nil {
		out.Problem = captures.NoIndex
		return out, nil
	}
	if day == "" {
		if out.Day, err = c.lastFront(u, role); err != nil || out.Day == "" {
			return out, err
		}
	}
	begin, bad := time.Parse(time.DateOnly, out.Day)
	if bad != nil {
		return out, admin.Fault("day %q: write it as 2026-11-29", day)
	}
	err = c.catalog.With(role, c.o.Now(), func(l *captures.Library) error {
		before, err := c.framesOf(l, u, begin.AddDate(0, 0, -1))
		if err != nil {
			return err
		}
		for _, f := range before {
			if f.Picture != "" {
				out.Before = &f
			}
		}
		out.Frames, err = c.framesOf(l, u, begin)
		return err
	})
	c.tellChanges(out.Frames, u, begin, role)
	if n := len(out.Frames); n > maxFrames {
		out.More, out.Frames = n-maxFrames, out.Frames[n-maxFrames:]
	}
	return out, err
}

// framesOf returns the versions and pictures of a day, oldest first. A picture belongs to the last version before it.
func (c *curation) framesOf(
	l *captures.Library, u uri.URI, day time.Time,
) (frames []Frame, err error) {
	stamps := day.Format("20060102")
	pages, err := during(l, u.String(), stamps)
	if err != nil {
		return nil, err
	}
	pictures, err := during(l, fullPage+u.String(), stamps)
	frames = []Frame{}
	for _, e := range versionsIn(pages) {
		f := Frame{Date: e.Date(), At: e.Timestamp}
		if c.shots.late.Has(lateName(u, e.Timestamp)) {
			f.Picture, f.Late = e.Timestamp, true
		}
		frames = append(frames, f)
	}
	versions := len(frames)
	for _, e := range pictures {
		i, exact := slices.BinarySearchFunc(frames[:versions], e.Date(), func(f Frame, at time.Time) int {
			return f.Date.Compare(at)
		})
		if exact {
			i++
		}
		if i > 0 && (frames[i-1].Picture == "" || frames[i-1].Late) {
			frames[i-1].Picture, frames[i-1].Late = e.Timestamp, false
			continue
		}
		f := Frame{Date: e.Date(), Picture: e.Timestamp}
		if i > 0 {
			f.At = frames[i-1].At
		}
		frames = append(frames, f)
	}
	slices.SortStableFunc(frames, func(a, b Frame) int { return a.Date.Compare(b.Date) })
	return frames, err
}

// tellChanges adds to versions what a reader sees that changed. frames are of one day, oldest first.
func (c *curation) tellChanges(frames []Frame, u uri.URI, day time.Time, role access.Role) {
	embargo := admin.EmbargoFor(role, c.o.Config().Config, c.o.Now())
	f := changeFilter{
		URI: u.String(), Since: day, Until: day.AddDate(0, 0, 1),
		captureFilter: captureFilter{Host: string(u.Host()), Limit: maxFrames, Embargo: embargo},
	}
	list, _ := c.changes.store.Find(f, maxFind, c.o.Now)
	for _, change := range list {
		for i := len(frames) - 1; i >= 0; i-- {
			if frames[i].Date.After(change.At) {
				continue
			}
			if frames[i].At != "" && frames[i].Kinds == nil {
				frames[i].Kinds, frames[i].Headline = change.Change.Kinds, change.Change.Headlines
			}
			break
		}
	}
}
