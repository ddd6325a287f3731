package misfortune

import (
	"regexp"
	"time"
)

// Options say which answers are not the requested page, and how URIs that are gone are visited.
type Options struct {
	KnownBlocks bool             // detect common challenge pages, walls, and "not found" pages with status 200
	Blocked     []*regexp.Regexp // identify further challenge pages and walls
	NotFound    []*regexp.Regexp // identify further "not found" pages
	GoneAfter   int              // number of consecutive answers 404 or 410 after which a URI is gone
	GoneFirst   time.Duration    // wait after the first of these answers; each further one is four times as long
	GoneWait    time.Duration    // wait between visits of a URI that is gone
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	return Options{KnownBlocks: true, GoneAfter: 4, GoneFirst: time.Hour, GoneWait: 28 * 24 * time.Hour}
}
