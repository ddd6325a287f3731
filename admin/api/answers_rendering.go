package api

import "fmt"

// Rendering says what the browsers did since the start of the daemon.
type Rendering struct {
	Queue     int64 `json:"queue"`                // pages that wait
	NoBrowser bool  `json:"no_browser,omitempty"` // Chromium is not installed

	Done    int64 `json:"done"`
	Late    int64 `json:"late"`    // of Done, those that were not quiet within render.limit
	Failed  int64 `json:"failed"`  // the browser crashed, took too long or needed too much memory
	Dropped int64 `json:"dropped"` // the queue was full, render.max_per_day was reached, or the crawl was paused

	FromArchive int64 `json:"from_archive"` // requests that a fresh capture answered
	Visited     int64 `json:"visited"`      // requests that a visit answered
	Refused     int64 `json:"refused"`      // requests out of scope, or that no archive can answer
	GaveUp      int64 `json:"gave_up"`      // requests whose visit did not come in time, or was forbidden by robots.txt

	Found int64 `json:"found"` // new URIs
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

// Plus returns the sum of both.
func (r Rendering) Plus(o Rendering) Rendering {
	return Rendering{
		Queue: r.Queue + o.Queue, NoBrowser: r.NoBrowser || o.NoBrowser, Done: r.Done + o.Done, Late: r.Late + o.Late,
		Failed: r.Failed + o.Failed, Dropped: r.Dropped + o.Dropped, FromArchive: r.FromArchive + o.FromArchive,
		Visited: r.Visited + o.Visited, Refused: r.Refused + o.Refused, GaveUp: r.GaveUp + o.GaveUp, Found: r.Found + o.Found,
	}
}
