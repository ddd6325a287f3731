// This file decides whether a refinement of the configuration, a [[when]], applies to a visit.

package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the same time zones on every machine

	"github.com/arcrawl/arcrawl/uri"
)

// Criteria are the conditions of one refinement. A field that is not set is no condition.
type Criteria struct {
	URI      *regexp.Regexp // matches a part of the URI
	MIME     *regexp.Regexp // matches the Content-Type of the last capture
	Port     int
	Hops     []uri.Hop // how the URI was found; 0 is a seed
	Time     Span
	Weekdays []time.Weekday
	Zone     *time.Location // of Time and Weekdays; must be set
	Until    time.Time      // end of the refinement
}

// About says what the settings of a visit can depend on. Leave out what is not known: a criterion about it does not
// hold.
type About struct {
	URI         uri.URI
	Hops        uri.HopPath // how the URI was found
	ContentType string      // of the last capture; empty before the first
	Now         time.Time   // time of the visit
}

// Hold reports whether all criteria hold for a visit.
func (c *Criteria) Hold(v About) bool { return c.holdForURI(v) && c.holdAt(v.Now) }

// DependOnURI reports whether any of the criteria depends on more than the time.
func (c *Criteria) DependOnURI() bool {
	return c.URI != nil || c.MIME != nil || c.Port != 0 || len(c.Hops) > 0
}

// holdForURI checks the criteria that do not depend on the time.
func (c *Criteria) holdForURI(v About) bool {
	if !c.DependOnURI() {
		return true
	}
	switch {
	case v.URI.IsZero(),
		c.URI != nil && !c.URI.MatchString(v.URI.String()),
		c.Port != 0 && v.URI.Port() != strconv.Itoa(c.Port):
		return false
	}
	var last uri.Hop
	if v.Hops != "" {
		last = uri.Hop(v.Hops[len(v.Hops)-1])
	}
	if len(c.Hops) > 0 && !slices.Contains(c.Hops, last) {
		return false
	}
	return c.MIME == nil || v.ContentType != "" && c.MIME.MatchString(v.ContentType)
}

// holdAt checks the criteria that depend on the time. A span across midnight belongs to the weekday on which it begins.
func (c *Criteria) holdAt(now time.Time) bool {
	if !c.Until.IsZero() && !now.Before(c.Until) {
		return false
	}
	if c.Time == (Span{}) && len(c.Weekdays) == 0 {
		return true
	}
	local := now.In(c.Zone)
	hour, minute, second := local.Clock()
	clock := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	weekday := local.Weekday()
	switch s := c.Time; {
	case s == Span{}:
	case s.From < s.To:
		if clock < s.From || clock >= s.To {
			return false
		}
	case clock < s.To:
		weekday = (weekday + 6) % 7
	case clock < s.From:
		return false
	}
	return len(c.Weekdays) == 0 || slices.Contains(c.Weekdays, weekday)
}

// String returns the criteria as the file writes them, on one line.
func (c *Criteria) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.URI != nil {
		add("uri = %s", strconv.Quote(c.URI.String()))
	}
	if c.MIME != nil {
		add("mime = %s", c.MIME)
	}
	if c.Port != 0 {
		add("port = %d", c.Port)
	}
	if len(c.Hops) > 0 {
		var names []string
		for _, k := range hopNames {
			if slices.Contains(c.Hops, k.hop) {
				names = append(names, k.name)
			}
		}
		add("hop = %s", strings.Join(names, ", "))
	}
	if c.Time != (Span{}) {
		add("time = %s", c.Time)
	}
	if len(c.Weekdays) > 0 {
		var names []string
		for _, d := range c.Weekdays {
			names = append(names, weekdayNames[d])
		}
		add("weekdays = %s", strings.Join(names, ", "))
	}
	if c.Zone != nil && c.Zone != time.UTC && (c.Time != (Span{}) || len(c.Weekdays) > 0) {
		add("zone = %s", c.Zone)
	}
	if !c.Until.IsZero() {
		add("until %s", c.Until.Format(time.RFC3339))
	}
	return strings.Join(parts, ", ")
}
