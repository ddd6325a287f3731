// Package rendering holds the settings of the table "render": which pages a browser loads, and with what bounds.
package rendering

import "time"

// Settings say how the pages of a visit's host are rendered.
type Settings struct {
	On          bool
	Every       time.Duration // minimum time between two renderings of a page, changed or not; 0 = each new version
	Keep        Keep
	Age         time.Duration // maximum age of a capture that answers a request
	Limit       time.Duration // maximum time of a rendering
	MaxRequests int           // of a page
	MaxPerDay   int           // pages of the host
}

// Keep says what is archived of a rendered page.
type Keep string

// The values of render.keep.
const (
	Nothing Keep = "nothing"
	Text    Keep = "text" // text and DOM
	All     Keep = "all"  // also a picture
)

// Default returns the settings that no file has set.
func Default() Settings {
	return Settings{
		Keep: Nothing, Age: 24 * time.Hour, Limit: 2 * time.Minute, MaxRequests: 500, MaxPerDay: 1000,
	}
}

// Pool says which browsers run.
type Pool struct {
	Browser string // path or name of the program; "" = the usual ones
	Workers int
	Memory  int64 // maximum of private memory of each browser, in bytes
	Pages   int   // after which a browser is started again
}

// DefaultPool returns the pool that no file has set.
func DefaultPool() Pool { return Pool{Workers: 1, Memory: 2e9, Pages: 100} }

// Due reports whether a page is rendered after a visit. rendered is when it was rendered last; zero = never.
func (s Settings) Due(changed bool, rendered, now time.Time) bool {
	switch {
	case !s.On:
		return false
	case s.Every == 0:
		return changed
	default:
		return now.Sub(rendered) >= s.Every
	}
}
