package api

import "fmt"

// Rendering says what the browsers did since the start of the daemon.
type Rendering struct {
	Queue     int64 `json:"queue" join:"sum"`               // pages that wait
	NoBrowser bool  `json:"no_browser,omitempty" join:"or"` // Chromium is not installed

	Done   int64 `json:"done" join:"sum"`
	Late   int64 `json:"late" join:"sum"`   // of Done, those that were not quiet within render.limit
	Failed int64 `json:"failed" join:"sum"` // the browser crashed, took too long or needed too much memory
	// The queue was full, render.max_per_day was reached, or the crawl was paused.
	Dropped int64 `json:"dropped" join:"sum"`

	FromArchive int64 `json:"from_archive" join:"sum"` // requests that a fresh capture answered
	Visited     int64 `json:"visited" join:"sum"`      // requests that a visit answered
	Refused     int64 `json:"refused" join:"sum"`      // requests out of scope, or that no archive can answer
	// Requests whose visit did not come in time, or was forbidden by robots.txt.
	GaveUp int64 `json:"gave_up" join:"sum"`

	Found int64 `json:"found" join:"sum"` // new URIs
}

// Line returns the line of arcrawl status about it; "" if no page was to be rendered.
func (r Rendering) Line() string {
	switch {
	case r.NoBrowser:
		return "rendering no page, because Chromium is not installed\n"
	case r.Queue+r.Done+r.Failed+r.Dropped == 0:
		return ""
	}
	return fmt.Sprintf("rendered  %d pages: %d new URIs; %d waiting, %d failed, %d dropped\n", r.Done, r.Found, r.Queue, r.Failed, r.Dropped)
}

// Pages returns the numbers of pages by outcome: done, failed, dropped.
func (r Rendering) Pages() []int64 { return []int64{r.Done, r.Failed, r.Dropped} }

// Requests returns the numbers of requests by answer: from the archive, by a visit, refused, late.
func (r Rendering) Requests() []int64 { return []int64{r.FromArchive, r.Visited, r.Refused, r.GaveUp} }
