package rate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// String returns the assessment as a sentence. Examples are "a capture target of 90 % needs a delay of 2.1s instead
// of 9.4s, or 1400 URIs fewer; at present 61 %" and "capture targets of 90 % (text/html) and 50 % (application/json)
// need a delay of …; at present 61 % and 22 % (90 % of seeds, front pages, sections and feeds)".
func (a Assessment) String() string {
	switch text := a.counted(); a.Restless {
	case 0:
		return text
	case 1:
		return text + "; 1 restless page is not counted"
	default:
		return text + "; " + strconv.Itoa(a.Restless) + " restless pages are not counted"
	}
}

// counted returns the sentence about the URIs that are counted.
func (a Assessment) counted() string {
	target, needs, present := a.targets()
	switch {
	case a.OverBudget && a.NeededRest < time.Millisecond:
		return fmt.Sprintf("%s %s out of reach, or %s %d of %d URIs fewer; at present %s",
			target, is(needs), needs, a.Excess, a.URIs, present)
	case a.OverBudget:
		waits := ""
		if a.MinTooLong {
			waits = ", and waits shorter than wait.min"
		}
		return fmt.Sprintf("%s %s a delay of %s instead of %s, or %d URIs fewer%s; at present %s",
			target, needs, human.About(a.NeededRest), human.About(a.Rest), a.Excess, waits, present)
	case a.MinTooLong:
		return fmt.Sprintf("%s %s waits shorter than wait.min; at present %s", target, needs, present)
	}
	return fmt.Sprintf("%s can be kept, with %s visits a day of %s that politeness allows", target, count(a.Wanted), count(a.Possible))
}

func is(needs string) string {
	if needs == "need" {
		return "are"
	}
	return "is"
}

// Maximum numbers of targets and names in a sentence.
const (
	maxTargets = 4
	maxParts   = 3
)

// targets returns the subject of the sentence, its verb, and what is captured at present.
func (a Assessment) targets() (subject, needs, present string) {
	leading := ""
	if percent(a.Leading) != percent(a.Share) && a.Leading > 0 {
		leading = " (" + percent(a.Leading) + " of seeds, front pages, sections and feeds)"
	}
	if len(a.Each) < 2 {
		return "a capture target of " + percent(a.Target), "needs", percent(a.Share) + leading
	}
	var wanted, shares []string
	for _, t := range a.Each[:min(len(a.Each), maxTargets)] {
		parts := ""
		if len(t.Parts) > 0 {
			parts = " (" + strings.Join(t.Parts[:min(len(t.Parts), maxParts)], ", ")
			if len(t.Parts) > maxParts {
				parts += " and others"
			}
			parts += ")"
		}
		wanted, shares = append(wanted, percent(t.Target)+parts), append(shares, percent(t.Share))
	}
	if len(a.Each) > maxTargets {
		wanted, shares = append(wanted, "others"), append(shares, "less")
	}
	return "capture targets of " + listed(wanted), "need", listed(shares) + leading
}

// listed joins two words or more.
func listed(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func count(f float64) string {
	if math.IsInf(f, 1) {
		return "any number"
	}
	return strconv.FormatFloat(math.Round(f), 'f', 0, 64)
}
