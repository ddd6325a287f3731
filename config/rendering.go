// This file holds the settings of the table "render": which pages a browser loads, and with what bounds.

package config

import "time"

// Rendering say how the pages of a visit's host are rendered.
type Rendering struct {
	On          bool
	Every       time.Duration // minimum time between two renderings of a page, changed or not; 0 = each new version
	Keep        keep
	Age         time.Duration // maximum age of a capture that answers a request
	Limit       time.Duration // maximum time of a rendering
	MaxRequests int           // of a page
	MaxPerDay   int           // pages of the host
}

// keep says what is archived of a rendered page.
type keep string

// The values of render.keep.
const (
	KeepNothing keep = "nothing"
	KeepText    keep = "text" // text and DOM
	KeepAll     keep = "all"  // also a picture
)

// DefaultRendering returns the settings that no file has set.
func DefaultRendering() Rendering {
	return Rendering{
		Keep: KeepNothing, Age: 24 * time.Hour, Limit: 2 * time.Minute, MaxRequests: 500, MaxPerDay: 1000,
	}
}

// BrowserPool says which browsers run.
type BrowserPool struct {
	Browser string // path or name of the program; "" = the usual ones
	Workers int
	Memory  int64 // maximum of private memory of each browser, in bytes
	Pages   int   // after which a browser is started again
}

// DefaultPool returns the pool that no file has set.
func DefaultPool() BrowserPool { return BrowserPool{Workers: 1, Memory: 2e9, Pages: 100} }

// Due reports whether a page is rendered after a visit. rendered is when it was rendered last; zero = never.
func (s Rendering) Due(changed bool, rendered, now time.Time) bool {
	switch {
	case !s.On:
		return false
	case s.Every == 0:
		return changed
	default:
		return now.Sub(rendered) >= s.Every
	}
}
