// This file has the answers about pictures of pages, named as in the openapi.json of the wing.

package curator

import "time"

// FrontMonth counts the versions and pictures of a page by day.
type FrontMonth struct {
	Month string          `json:"month"` // as 2026-11
	Days  []FrontDayCount `json:"days"`  // those with a version or a picture
	Last  string          `json:"last"`  // day of the newest picture; empty if there is none
}

// FrontDayCount counts the versions and pictures of a day, in UTC.
type FrontDayCount struct {
	Day      string `json:"day"` // as 2026-11-29
	Versions int    `json:"versions"`
	Pictures int    `json:"pictures"`
}

// FrontDay is the film strip of a page: its versions and pictures on a day, in UTC, oldest first.
type FrontDay struct {
	URI    string  `json:"uri"`
	Title  string  `json:"title,omitempty"`
	Day    string  `json:"day"`
	Before *Frame  `json:"before,omitempty"` // the last picture of the day before
	Frames []Frame `json:"frames"`           // at most 500: the last ones
	More   int     `json:"more,omitempty"`   // how many there are before them

	Problem string `json:"problem,omitempty"` // why there are no frames
}

// Frame is one version of a page, or a further picture of a version that stayed the same.
type Frame struct {
	Date     time.Time `json:"date"`
	At       string    `json:"at,omitempty"`       // timestamp of the version; empty if it is of an earlier day
	Picture  string    `json:"picture,omitempty"`  // timestamp of the picture; empty if there is none
	Late     bool      `json:"late,omitempty"`     // the picture was made later, of the archived page
	Headline []string  `json:"headline,omitempty"` // the old and the new one, if the headline changed
	Kinds    []string  `json:"kinds,omitempty"`    // of the change since the version before
}

// Moved says what is new or moved in a picture, compared with an earlier one.
type Moved struct {
	Width   int         `json:"width"` // of the later picture, in pixels
	Height  int         `json:"height"`
	Areas   []MovedArea `json:"areas"`             // of the later picture, from the top: at most 200, the largest
	Changed int         `json:"changed"`           // hundredths of the picture that are new
	Moved   int         `json:"moved"`             // hundredths of the picture that moved
	Problem string      `json:"problem,omitempty"` // why they were not compared
}

// MovedArea is a part of a picture, in pixels.
type MovedArea struct {
	Kind   string `json:"kind"` // "changed" or "moved"
	X      int    `json:"x"`
	Y      int    `json:"y"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	By     int    `json:"by,omitempty"` // how far it moved down
}

// PictureOrder names a version of which a picture is made.
type PictureOrder struct {
	URI string `json:"uri"`
	At  string `json:"at"` // timestamp of the version
}

// PictureState says how far a picture is that was ordered.
type PictureState struct {
	State   string `json:"state"`             // "waiting", "done" or "failed"
	Problem string `json:"problem,omitempty"` // why it failed
}
