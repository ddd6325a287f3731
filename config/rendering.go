// This file holds the settings of the table "render": which pages a browser loads, and with what bounds.

package config

import (
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Rendering say how the pages of a visit's host are rendered.
type Rendering struct {
	On          bool
	Every       time.Duration // minimum time between two renderings of a page, changed or not; 0 = each new version
	Keep        keep
	Age         time.Duration // maximum age of a capture that answers a request
	Limit       time.Duration // maximum time of a rendering
	MaxRequests int           // of a page
	MaxPerDay   int           // pages of the host
	Do          []Step        // in their order, before a page is taken as it is
}

// keep says what is archived of a rendered page.
type keep string

// The values of render.keep.
const (
	KeepNothing keep = "nothing"
	KeepText    keep = "text" // text and DOM
	KeepAll     keep = "all"  // also a picture
)

// BrowserPool says which browsers run.
type BrowserPool struct {
	Browser string // path or name of the program; "" = the usual ones
	Workers int
	Memory  int64 // maximum of private memory of each browser, in bytes
	Pages   int   // after which a browser is started again
}

// renderPages is the key of which pages are rendered.
func renderPages(r *Rendering) schema.Var {
	return schema.Every("render.pages", []string{"off", "changed", "every"},
		func() (choice int, every time.Duration) {
			switch {
			case !r.On:
				return 0, 0
			case r.Every == 0:
				return 1, 0
			default:
				return 2, r.Every
			}
		},
		func(choice int, every time.Duration) { r.On, r.Every = choice > 0, every },
		"Which captured HTML pages a browser loads: none (`off`), each new or changed version (`changed`), or each page at the first visit after a time, changed or not (`every 6h`).",
	)
}

// renderKeys are the keys of [render].
func (d *draft) renderKeys() []schema.Var {
	c, s := d.config, d.settings
	return []schema.Var{
		renderPages(&s.Render),
		schema.Choice("render.keep", InBoth, &s.Render.Keep,
			"What is archived of a page as the browser shows it: `nothing`, its `text` and DOM, or `all`: also a picture.",
			KeepNothing, KeepText, KeepAll),
		schema.Interval("render.age", InBoth, time.Minute, schema.Longest, &s.Render.Age,
			"Maximum age of captures that answer the browser's requests. Older or missing ones are visited first, within scope, robots.txt and politeness."),
		schema.Interval("render.limit", InBoth, time.Second, time.Hour, &s.Render.Limit,
			"Maximum time of a rendering. What was not visited by then is missing on the page, and visited all the same."),
		schema.Count("render.max_requests", InBoth, 1, 100_000, &s.Render.MaxRequests,
			"Maximum number of requests of a page."),
		schema.Count("render.max_per_day", InBoth, 1, 1_000_000, &s.Render.MaxPerDay,
			"Maximum number of pages of the host that are rendered in a day (UTC)."),
		schema.Rows("render.do", InBoth, stepColumns, &s.Render.Do, readSteps,
			"Steps that the browser does on a page, each one of the first five keys: `[{ preset = \"consent\" }, { click = \"button.more\", times = 20 }]`."),
		schema.Running(schema.Optional("render.browser", InMain, schema.CheckPath, &c.Render.Browser,
			"Chromium: a path or a name. Empty: the first of `chromium`, `chromium-browser` and `google-chrome` that is installed.")),
		schema.Count("render.browsers", InMain, 1, 64, &c.Render.Workers,
			"Number of browsers, each with one page at a time. They run at low priority."),
		schema.Bytes("render.memory", InMain, 128<<20, 1<<40, &c.Render.Memory,
			"Maximum of private memory of a browser. One that needs more is ended, without its page. MemoryMax of the service must leave room for it."),
		schema.Count("render.restart_after", InMain, 1, 100_000, &c.Render.Pages,
			"Pages after which a browser is started again."),
	}
}
