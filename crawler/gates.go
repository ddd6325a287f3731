package crawler

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/spaces"
)

// heldRest is how long a held host rests until it is checked again. Its URIs keep their due times.
const heldRest = time.Minute

// admitHeld lets the host rest if the configuration holds it: its file was never valid, and waits until it is fixed.
func (*Crawler) admitHeld(v *aspects.Visit) (aspects.Admission, error) {
	if _, held := settingsOf(v).config.Held(v.URI().Host()); held {
		return aspects.Admission{RestUntil: v.Began.Add(heldRest)}, nil
	}
	return aspects.Admission{}, nil
}

// admitName refuses a URI that is visited under another name.
func (c *Crawler) admitName(v *aspects.Visit) (aspects.Admission, error) {
	if v.IsPrerequisite() {
		return aspects.Admission{}, nil
	}
	visited, err := c.parts.Frontier.VisitedFor(*v.Record())
	if err != nil || visited == v.URI() {
		return aspects.Admission{}, err
	}
	return aspects.Admission{Refused: &aspects.Refusal{
		Status: aspects.StatusOutOfScope, Wait: forbiddenWait(v), Why: spaces.RefusedByName + visited.String(),
		ByConfig: true,
	}}, nil
}

// forbiddenWait returns the wait until a URI that is refused is checked again.
func forbiddenWait(v *aspects.Visit) time.Duration {
	return aspects.OptionsOf[robots.Options](v).ForbiddenWait
}
