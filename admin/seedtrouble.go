package admin

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// minSeedFailures is the number of visits in a row after which a seed that lets nobody in is a trouble.
const minSeedFailures = 3

// seedTrouble returns the trouble of a seed whose last visits brought no page although its server answers: a wall, a
// challenge, a refusal, or a page that is gone. goneAfter is the number of answers 404 or 410 that confirm that a page
// is gone.
func seedTrouble(r frontier.Record, goneAfter int) (alarm.Trouble, bool) {
	say := func(what, remedy string) (alarm.Trouble, bool) {
		seed := r.URI.String()
		return alarm.Trouble{Kind: alarm.Seed, About: seed, Text: fmt.Sprintf(
			"the seed %s %s, so its site may not be archived; %s", human.URI(seed), what, remedy)}, true
	}
	if goneAfter > 0 && r.Gone >= goneAfter {
		return say(fmt.Sprintf("is gone (status %d)", r.LastStatus), "look for its new address and change the seed")
	}
	if r.Failures < minSeedFailures {
		return alarm.Trouble{}, false
	}
	remedy := misfortune.Hint(r.LastError, r.LastStatus)
	times := fmt.Sprintf("at its last %d visits", r.Failures)
	switch {
	case strings.Contains(r.LastError, "loop:"):
		return say("redirected back to itself "+times+": it lets only visitors with a cookie in", remedy)
	case strings.Contains(r.LastError, "consent:"):
		return say("showed a wall that asks for consent or cookies "+times, remedy)
	case strings.Contains(r.LastError, "challenge:"):
		return say("showed a challenge that only people pass "+times, remedy)
	case strings.Contains(r.LastError, "login:"):
		return say("showed members what strangers see "+times, remedy)
	}
	switch r.LastStatus {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons:
		return say(fmt.Sprintf("refused us with status %d %s", r.LastStatus, times), remedy)
	}
	return alarm.Trouble{}, false
}
