package crawler

import (
	"context"
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/articles"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/hold"
	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/names"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

// step is one entry of the order.
type step[F any] struct {
	name string
	do   F
}

// order holds the steps of all aspects, see [Crawler.listOrder].
type order struct {
	gates   []step[aspects.Gate]
	askers  []step[aspects.Asker]
	judges  []step[aspects.Judge]
	readers []step[aspects.Reader]

	waits    []step[aspects.Decider]
	shorten  []step[aspects.Decider]
	overrule []step[aspects.Decider]

	learners []step[aspects.Learner]
	notes    []step[aspects.Annotator]
}

// aspectSet holds the aspects of a crawler.
type aspectSet struct {
	hold       hold.Aspect
	scope      scope.Aspect
	spaces     spaces.Aspect
	names      names.Aspect
	robots     robots.Aspect
	misfortune misfortune.Aspect
	noise      noise.Aspect
	feeds      feeds.Aspect
	articles   articles.Aspect
	login      login.Aspect
	rendered   aspects.Rendered
}

// notRendered lets the source of each page decide.
type notRendered struct{}

func (notRendered) After(*aspects.Visit, time.Time) any            { return nil }
func (notRendered) Note(_ *aspects.Visit, notes []string) []string { return notes }
func (notRendered) Settle(*frontier.Record)                        {}

// settings are the settings of one visit, and the configuration that they were resolved from.
type settings struct {
	config *config.Config
	config.Settings
}

// settingsOf returns the settings of a visit.
func settingsOf(v *aspects.Visit) *settings { return v.Settings.(*settings) }

// compose passes the aspects the parts that they need.
func (c *Crawler) compose() {
	p, a := c.parts, &c.aspects
	forbiddenWait := func(v *aspects.Visit) time.Duration { return aspects.OptionsOf[robots.Options](v).ForbiddenWait }
	retry := func(v *aspects.Visit) *evaluators.Ladder { return &settingsOf(v).Retry }
	a.hold.Held = func(v *aspects.Visit) bool {
		_, held := settingsOf(v).config.Held(v.URI().Host())
		return held
	}
	a.scope = scope.Aspect{Wait: forbiddenWait, Of: func(v *aspects.Visit) *scope.Scope {
		return config.ScopeOf(settingsOf(v).config, v.Record().Seed, v.URI(), v.Began, p.Frontier)
	}}
	a.spaces = spaces.Aspect{
		Options: aspects.OptionsOf[spaces.Options],
		Store:   p.Traps, Frontier: p.Frontier, Log: p.Log,
	}
	a.names = names.Aspect{
		VisitedFor: func(v *aspects.Visit) (uri.URI, error) { return p.Frontier.VisitedFor(*v.Record()) },
		Wait:       forbiddenWait,
	}
	a.robots = robots.Aspect{
		Options: aspects.OptionsOf[robots.Options],
		Retry:   func(v *aspects.Visit, failures int) time.Duration { return retry(v).Wait(failures) },
		Sitemaps: func(v *aspects.Visit) (named, usual bool) {
			f := aspects.OptionsOf[feeds.Options](v)
			return f.RobotsSitemaps, f.UsualSitemap
		},
		Frontier: p.Frontier, Copies: c.robots, AddSitemap: c.addSitemap,
		AskedUntil: a.misfortune.AskedUntil, IsHostDown: misfortune.HostDown,
	}
	a.misfortune = misfortune.Aspect{
		Options: aspects.OptionsOf[misfortune.Options], Retry: retry,
		Frontier: p.Frontier,
	}
	a.noise.Options = aspects.OptionsOf[noise.Options]
	a.noise.Rule = func(v *aspects.Visit, contentType string) evaluators.WaitEvaluator {
		return settingsOf(v).Wait.For(contentType)
	}
	a.noise.Stretch = func(v *aspects.Visit) float64 { return c.factorsOf(v).Stretch }
	a.articles.Options, a.login.Cookies = aspects.OptionsOf[articles.Options], p.Cookies
	if a.rendered = p.Rendered; a.rendered == nil {
		a.rendered = notRendered{}
	}
	c.composeFeeds()
}

func (c *Crawler) composeFeeds() {
	p, a := c.parts, &c.aspects
	a.feeds = feeds.Aspect{
		Options: aspects.OptionsOf[feeds.Options],
		Implied: func(v *aspects.Visit) *feeds.Options {
			seed := config.About{URI: c.scopeOfSeed(v).Seed(), Now: v.Finished}
			return config.OwnFor[feeds.Options](settingsOf(v).config, seed)
		},
		Frontier: p.Frontier, Dates: p.Reputation.Dates, AddDate: p.Reputation.AddDate, Log: p.Log,
		Indexes: p.Reputation.Indexes, ChangeIndexes: p.Reputation.ChangeIndexes, Rule: a.noise.Rule,
		NotifyHub: p.NotifyHub, Candidate: c.candidate,
		Born: func(v *aspects.Visit, item feeds.Item, kind feeds.Kind, first bool) time.Time {
			return a.articles.Born(v, articles.Listed{
				Published: item.Published, Date: item.Date(), Newest: kind.ListsNewest(), First: first,
			})
		},
		Vouch: func(v *aspects.Visit, listed []uri.URI) error { return a.spaces.Vouch(v, listed) },
		Rest: func(v *aspects.Visit) time.Duration {
			return c.politeness(v).Rest(v.Capture.Took) + v.Capture.Took
		},
		GoneAfter: func(v *aspects.Visit) int { return aspects.OptionsOf[misfortune.Options](v).GoneAfter },
	}
}

// politeness returns how the host of a visit rests, with the rules of robots.txt that the visit brought.
func (c *Crawler) politeness(v *aspects.Visit) frontier.Politeness {
	p := &settingsOf(v).Politeness
	return c.robots.Politeness(v.URI(), p.Politeness, p.CrawlDelayUpTo, v.Next.Robots, v.Finished)
}

// admit asks the gates. If one spends the claim on another URI of the host, the visit becomes one of that URI.
func (c *Crawler) admit(v *aspects.Visit) (admitted aspects.Admission, err error) {
	defer panics.Recover(&err)
	c.aspects.robots.Begin(v)
	for _, s := range c.order.gates {
		admitted, err = s.do(v)
		if err != nil || admitted != (aspects.Admission{}) {
			return admitted, err
		}
	}
	return admitted, nil
}

// ask lets the askers make the request.
func (c *Crawler) ask(v *aspects.Visit) error {
	for _, s := range c.order.askers {
		if err := s.do(v); err != nil {
			return err
		}
	}
	return nil
}

// judge asks the judges what the exchange means, compared with what is remembered.
//
// An error is our own: the store is broken, or the content could not be read again from where it was spooled.
func (c *Crawler) judge(ctx context.Context, v *aspects.Visit) (err error) {
	defer panics.Recover(&err)
	c.step("judging")
	v.Unread = isUnread(v)
	for _, s := range c.order.judges {
		if done, err := s.do(ctx, v); done || err != nil {
			return err
		}
	}
	return nil
}

// discover lets the readers list what a page names. The content is read again only if it is the first one, has changed
// or was cut. An error is of the store, or ctx has ended.
func (c *Crawler) discover(ctx context.Context, v *aspects.Visit) (err error) {
	defer panics.Recover(&err)
	c.step("discovering")
	v.Found.Read = isRead(v)
	for _, s := range c.order.readers {
		if err := s.do(ctx, v); err != nil {
			return err
		}
	}
	return ctx.Err() // what is found then is not all
}

// schedule adds a visit to the history of its URI, and asks the deciders when the URI is due again. Each change is
// signed.
func (c *Crawler) schedule(ctx context.Context, v *aspects.Visit) (err error) {
	defer panics.Recover(&err)
	c.step("scheduling")
	c.beginNext(v)
	n := &v.Next
	ask := func(s step[aspects.Decider]) error {
		err := s.do(ctx, v)
		n.Sign(s.name, v.Finished)
		return err
	}
	rest := [2][]step[aspects.Decider]{nil, c.order.overrule}
	for _, s := range c.order.waits {
		if err := ask(s); err != nil {
			return err
		}
		if n.Wait.Evaluator == "" {
			continue
		}
		if s.name == byStack {
			rest[0] = c.order.shorten
		}
		break
	}
	for _, steps := range rest {
		for _, s := range steps {
			if err := ask(s); err != nil {
				return err
			}
		}
	}
	if !v.IsRobots {
		n.Record.Chain = n.Text()
	}
	return nil
}

// learn stores what a visit says about its host. What cannot be stored does not keep the rest from being stored.
func (c *Crawler) learn(v *aspects.Visit) (err error) {
	defer panics.Recover(&err)
	for _, s := range c.order.learners {
		err = errors.Join(err, s.do(v))
	}
	return err
}
