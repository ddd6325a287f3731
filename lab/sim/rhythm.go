package sim

import (
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// hoursOfDay is the number of hours in a rhythm, which the days of the week follow.
const hoursOfDay = 24

// rhythmPrior is the number of changes that each hour and day begins with, as if expected exactly.
const rhythmPrior = 5.0

// RhythmText returns when most and when least changes, such as "most from 07 to 10, least from 02 to 05 UTC and on
// Sunday". It is empty if nothing is known.
func RhythmText(y rate.Rhythm) string {
	var ratio [len(y.Seen)]float64
	total := 0.0
	for i := range ratio {
		ratio[i] = (y.Seen[i] + rhythmPrior) / (y.Expected[i] + rhythmPrior)
		total += y.Seen[i]
	}
	if !(total > 0) {
		return ""
	}
	hour := ratio[:hoursOfDay]
	busiest, quietest := 0, 0
	for i := range hour {
		if nearby(hour, i) > nearby(hour, busiest) {
			busiest = i
		}
		if nearby(hour, i) < nearby(hour, quietest) {
			quietest = i
		}
	}
	day := 0
	for i, x := range ratio[hoursOfDay:] {
		if x < ratio[hoursOfDay+day] {
			day = i
		}
	}
	days := strings.Fields("Thursday Friday Saturday Sunday Monday Tuesday Wednesday")
	return fmt.Sprintf("most from %s, least from %s UTC and on %s", threeHours(busiest), threeHours(quietest), days[day])
}

// nearby returns the mean of an hour and the hours before and after it.
func nearby(hour []float64, i int) float64 {
	n := len(hour)
	return (hour[(i+n-1)%n] + hour[i] + hour[(i+1)%n]) / 3
}

// threeHours returns the three hours around an hour as text, such as "07 to 10".
func threeHours(hour int) string {
	return fmt.Sprintf("%02d to %02d", (hour+hoursOfDay-1)%hoursOfDay, (hour+2)%hoursOfDay)
}
