package crawler

import (
	"slices"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/crawllog"
)

// listOrder lists who is asked about a visit, and in which order. It is the only place that says so. The plain rule is
// in the list, too: the steps of the crawler itself. docs/scheduling.md explains the precedence.
func (c *Crawler) listOrder() order {
	a := &c.aspects
	return order{
		gates: []step[aspects.Gate]{ // the first that does not admit the URI ends the walk
			{"hold", a.hold.Admit},
			{"scope", a.scope.Admit},
			{"spaces", a.spaces.Admit},
			{"names", a.names.Admit},
			{"robots", a.robots.Admit},
		},
		askers: []step[aspects.Asker]{ // each changes the request
			{"request", c.makeRequest}, // the plain rule: a request for the whole answer
			{"robots", a.robots.Ask},
			{"noise", a.noise.Ask},
			{"login", a.login.Ask},
			{"midfetch", c.believe}, // the plain rule: the headers that the server was reliable with
			{"misfortune", a.misfortune.Ask},
		},
		judges: []step[aspects.Judge]{ // until one is done
			{"misfortune", a.misfortune.Judge},
			{"change", c.compare}, // the plain rule: the digest is another one
			{"misfortune", a.misfortune.JudgeContent},
			{"spaces", a.spaces.Judge},
			{"noise", a.noise.Judge},
			{"stack", c.recall},
			{"feeds", a.feeds.Recall},
		},
		readers: c.listReaders(),
		waits: []step[aspects.Decider]{ // the first that decides
			{"feeds", a.feeds.NoteGone},
			{"gone", a.misfortune.DecideGone},
			{"fault", a.misfortune.DecideFault},
			{"retry", a.misfortune.DecideRetry},
			{"second look", a.noise.DecideLook},
			{"stack", c.decideByStack}, // the plain rule: the wait evaluators
		},
		shorten: []step[aspects.Decider]{ // each may change what the stack decided
			{"feeds", a.feeds.Decide},
			{"load", c.decideFirst},
			{"articles", a.articles.Decide},
			{"second look", a.noise.DecideRestless},
		},
		overrule: []step[aspects.Decider]{ // each may change what anybody decided
			{"second look", a.noise.DecideFailed},
			{"due", c.decideDue}, // the plain rule: the wait after the end of the visit
			{"robots", a.robots.Decide},
			{"late host", a.feeds.DecideOnLateHost},
			{"Retry-After", a.misfortune.DecideAsked},
			{"robots", a.robots.DecideSubstitute},
		},
		learners: c.listLearners(),
		notes:    c.listNotes(),
	}
}

// listReaders lists who reads the content. Each adds what it finds.
func (c *Crawler) listReaders() []step[aspects.Reader] {
	a := &c.aspects
	return []step[aspects.Reader]{
		{"feeds", a.feeds.Read},
		{"robots", a.robots.Read},
		{"links", c.readLinks}, // the plain rule: links in scope
		{"headlines", a.feeds.ReadFront},
		{"articles", a.articles.Read},
		{"spaces", a.spaces.Read},
	}
}

// listLearners lists who stores what a visit says about its host.
func (c *Crawler) listLearners() []step[aspects.Learner] {
	a := &c.aspects
	return []step[aspects.Learner]{
		{"login", a.login.Learn},
		{"headers", c.learnHeaders},
		{"feeds", a.feeds.Learn},
		{"stack", c.learnSimilar},
		{"spaces", a.spaces.Learn},
	}
}

// listNotes lists who adds annotations to crawl.log, in the order in which they are written.
func (c *Crawler) listNotes() []step[aspects.Annotator] {
	a := &c.aspects
	return []step[aspects.Annotator]{
		{"archive", noteKept},
		{"Retry-After", a.misfortune.NoteAsked},
		{"links", noteDropped},
		{"spaces", a.spaces.Note},
		{"feeds", a.feeds.Note},
		{"head", noteRepaired},
		{"misfortune", a.misfortune.Note},
		{"noise", a.noise.Note},
		{"rendered", a.rendered.Note},
		{"login", login.Note},
		{"feeds", a.feeds.NoteDates},
		{"change", noteChange},
	}
}

// Words returns an annotation of crawl.log in words for people.
func Words(annotation string) string {
	return crawllog.Words(annotation, slices.Concat(
		misfortune.Meanings(), feeds.Meanings(), noise.Meanings(), login.Meanings(), spaces.Meanings(),
	)...)
}
