package api

// Counts holds the results of the visits in a period.
type Counts struct {
	Visits    int64 `json:"visits" join:"sum"`    // settled, with any result
	Versions  int64 `json:"versions" join:"sum"`  // captured: first visits and changes
	Unchanged int64 `json:"unchanged" join:"sum"` // visits that found nothing new
	Unread    int64 `json:"unread" join:"sum"`    // unchanged visits that did not read the body
	Failed    int64 `json:"failed" join:"sum"`    // failures
	Refused   int64 `json:"refused" join:"sum"`   // not requested because of robots.txt or scope
	Found     int64 `json:"found" join:"sum"`     // new URIs
	Received  int64 `json:"received" join:"sum"`  // transferred bytes of responses
	Spared    int64 `json:"spared" join:"sum"`    // bytes not transferred, estimated from the last capture
	Deduped   int64 `json:"deduped" join:"sum"`   // bytes transferred but not stored again
	Written   int64 `json:"written" join:"sum"`   // compressed bytes added to the archive
	Down      int64 `json:"down" join:"sum"`      // visits that did not reach their host
	// Bodies not received for lack of disk space, or beyond the quota of a day.
	NoSpace int64 `json:"no_space" join:"sum"`
}

// Plus returns the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		Visits: c.Visits + d.Visits, Versions: c.Versions + d.Versions, Unchanged: c.Unchanged + d.Unchanged,
		Unread: c.Unread + d.Unread, Failed: c.Failed + d.Failed, Refused: c.Refused + d.Refused, Found: c.Found + d.Found,
		Received: c.Received + d.Received, Spared: c.Spared + d.Spared, Deduped: c.Deduped + d.Deduped,
		Written: c.Written + d.Written, Down: c.Down + d.Down, NoSpace: c.NoSpace + d.NoSpace,
	}
}
