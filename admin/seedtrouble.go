package admin

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// minSeedFailures is the number of visits in a row after which a seed that lets nobody in is a trouble.
const minSeedFailures = 3

// seedPatience is the time after which a seed that was never captured is a trouble, however few visits there were.
const seedPatience = 12 * time.Hour

// Silent returns the alarms about chosen hosts, and seeds on them, with nothing new for long, at most limit.
func (w *Window) Silent(chosen func(host string) bool, limit int) []api.Alarm {
	out := []api.Alarm{}
	for _, a := range w.AlarmsOf(nil).Alarms {
		if (a.Kind == alarm.Silence || a.Kind == alarm.FrontPage) && chosen(a.Host) && len(out) < limit {
			out = append(out, a)
		}
	}
	return out
}

// SeedsWithout returns the seeds on chosen hosts whose last visit brought no page, with what would help, at most limit.
func (w *Window) SeedsWithout(chosen func(host string) bool, limit int) []api.Alarm {
	out := []api.Alarm{}
	for _, seed := range w.o.Config().Config.Seeds {
		host := seed.URI.Host()
		if len(out) == limit || !chosen(string(host)) {
			continue
		}
		r, ok, err := w.o.Frontier.Get(seed.URI)
		if err != nil || !ok {
			continue
		}
		if f, yes := w.seedFault(r, atOnce); yes {
			out = append(out, api.Alarm{
				Kind: alarm.Seed, About: seed.URI.String(), Host: string(host), Text: f.text(r), Setting: f.setting,
				Since: later(r.FirstSeen, r.LastVisit),
			})
		}
	}
	return out
}

// isRendered reports whether a browser loads a page of which it matters.
func isRendered(c *config.Config, r frontier.Record, now time.Time) bool {
	return r.Shell && c.For(config.About{URI: r.URI, Hops: r.Hops, ContentType: r.ContentType, Now: now}).Render.On
}

// atOnce is the patience of who asks now: the last visit counts.
func atOnce(frontier.Record) (failures, gone int) { return 1, 1 }

// patience returns after how many failures in a row, and answers that say that it is gone, a seed is a trouble.
func patience(r frontier.Record, goneAfter int, now time.Time) (failures, gone int) {
	if r.Versions == 0 && now.Sub(r.FirstSeen) >= seedPatience {
		return 1, 1
	}
	return minSeedFailures, goneAfter
}

// maxSeedRedirects is the maximum number of redirects from a seed to the page that it stands for.
const maxSeedRedirects = 5

// loginPath matches the addresses of pages to log in.
var loginPath = regexp.MustCompile(
	`(?i)(^|[/_.-])(log-?in|sign-?in|sso|saml2?|auth|authenticate|anmelden|anmeldung|connexion|inloggen)([/_.-]|$)`)

// seedFault returns why a seed brings no page, or why the page does not to which its redirects lead; see [seedFaultOf].
// patience returns after how many failures in a row, and answers that say that it is gone, a page is a trouble.
func (w *Window) seedFault(
	r frontier.Record, patience func(frontier.Record) (failures, gone int),
) (seedFault, bool) {
	c, now := w.o.Config().Config, w.o.Now()
	seed := r.URI
	for range maxSeedRedirects {
		failures, gone := patience(r)
		if f, yes := seedFaultOf(r, failures, gone, isRendered(c, r, now)); yes {
			if r.URI != seed {
				f.what = "leads to " + human.URI(r.URI.String()) + ", which " + f.what
			}
			return f, true
		}
		to, redirects := misfortune.Redirected(r.URI, r.Status, r.Location)
		if !redirects || to == r.URI || to == seed {
			break
		}
		if loginPath.MatchString(to.Path()) && !loginPath.MatchString(seed.Path()) {
			return seedFault{
				"leads to a page to log in, " + human.URI(to.String()),
				"choose another seed, or set login.uri and the fields of its form in the host file if the publisher gave you " +
					"an account", "login.uri",
			}, true
		}
		next, known, err := w.o.Frontier.Get(to)
		if err != nil || !known {
			break
		}
		r = next
	}
	return seedFault{}, false
}

// seedFault says why a seed brings no page, and what would help.
type seedFault struct {
	what, remedy string
	setting      string // key of the host file that helps most often
}

// text returns the fault in words.
func (f seedFault) text(r frontier.Record) string {
	return fmt.Sprintf("the seed %s %s, so its site may not be archived; %s", human.URI(r.URI.String()), f.what, f.remedy)
}

// seedFaultOf returns why the last visits of a seed brought no page although its server answers: robots.txt forbids it,
// a wall, a challenge, a refusal, an error, a page that is gone, or one that scripts make and no browser renders.
// failures is the minimum number of failures in a row, goneAfter the number of answers 404 or 410 that confirm that a
// page is gone.
func seedFaultOf(r frontier.Record, failures, goneAfter int, rendered bool) (seedFault, bool) {
	switch {
	case crawler.IsForbidden(r.LastStatus):
		return seedFault{
			"is forbidden by robots.txt",
			"choose another seed, ask the site for a permission, or set robots.obey and robots.reason in its host file if " +
				"the law permits it",
			"robots.obey",
		}, true
	case goneAfter > 0 && r.Gone >= goneAfter:
		what := fmt.Sprintf("is gone (status %d)", r.LastStatus)
		return seedFault{what, "look for its new address and change the seed", "seeds.uris"}, true
	case r.Failures >= max(failures, 1):
		return failedSeed(r)
	case r.Failures == 0 && r.Shell && !rendered:
		return seedFault{
			"is made by scripts and has hardly any text without them",
			"set render.pages in its host file, so that a browser loads it (arcrawl fetch --try URI --render shows what " +
				"that finds), or name a feed or another page as seed",
			"render.pages",
		}, true
	}
	return seedFault{}, false
}

// failedSeed returns the fault of a seed whose last visit failed; none if its host may be unreachable.
func failedSeed(r frontier.Record) (seedFault, bool) {
	remedy := misfortune.Hint(r.LastError, r.LastStatus)
	times := "at its last visit"
	if r.Failures > 1 {
		times = fmt.Sprintf("at its last %d visits", r.Failures)
	}
	switch {
	case strings.Contains(r.LastError, "loop:"):
		return seedFault{
			"redirected back to itself " + times + ": it lets only visitors with a cookie in", remedy, "fetch.cookies",
		}, true
	case strings.Contains(r.LastError, "consent:"):
		return seedFault{"showed a wall that asks for consent or cookies " + times, remedy, "fetch.cookies"}, true
	case strings.Contains(r.LastError, "challenge:"):
		return seedFault{"showed a challenge that only people pass " + times, remedy, "request.secret_headers"}, true
	case strings.Contains(r.LastError, "login:"):
		return seedFault{"showed members what strangers see " + times, remedy, "login.logged_out"}, true
	}
	refused := fmt.Sprintf("refused us with status %d %s", r.LastStatus, times)
	switch r.LastStatus {
	case http.StatusUnauthorized:
		return seedFault{refused, remedy, "request.basic"}, true
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons:
		return seedFault{refused, remedy, "request.secret_headers"}, true
	}
	if r.Versions == 0 && r.LastStatus >= http.StatusBadRequest {
		return seedFault{
			fmt.Sprintf("brought only errors, status %d %s", r.LastStatus, times),
			"open it in a browser, and choose the address that works as seed", "seeds.uris",
		}, true
	}
	return seedFault{}, false
}
