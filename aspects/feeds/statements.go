package feeds

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/uri"
)

// addUpdatedEntries adds the pages that were modified according to the source, so that they are visited sooner. How
// much sooner depends on the belief in the source. It returns the statements that those visits will prove.
func (a *Aspect) addUpdatedEntries(
	v *aspects.Visit, r *reading, items []Item, belief float64,
) (statements []Statement, err error) {
	now := v.Finished
	index, err := a.indexOf(v.URI())
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if i == maxLookedUp {
			break
		}
		cand, ok := a.Candidate(v, item.URI, uri.Manifest)
		if !ok {
			continue
		}
		page, known, err := a.Frontier.Get(item.URI)
		if err != nil {
			return nil, err
		}
		cand.Due = now.Add(time.Duration(i) * time.Millisecond)
		cand.Urgent = !known || belief >= 0.5
		if known {
			if item.Reworded && page.LastChange.After(r.before) { // a visit has found it before
				r.index.check(&page, r.before, true)
				continue
			}
			if !item.Reworded && !isOutdated(item, &page, now) && !item.Date().IsZero() { // it was captured after that date
				r.checkDate(item, &page)
				if at, ok := r.dates.changed(item); ok && at.After(page.FirstSeen) {
					r.index.check(&page, at, !at.After(page.LastChange))
				}
				continue
			}
			statements = append(statements, Statement{URI: item.URI, At: now})
			if index.Useless() {
				continue
			}
			cand.Sooner = true
			if !item.Reworded {
				r.setDates(&cand, item, true)
			}
			if !cand.Urgent {
				cand.Due = now.Add(time.Duration(float64(max(0, page.Due.Sub(now))) * (1 - belief)))
			}
			cand.Due = later(cand.Due, page.LastVisit.Add(a.Options(v).MinWait))
		}
		v.Found.Candidates = append(v.Found.Candidates, cand)
	}
	return statements, nil
}

// checkStatements compares earlier statements with the visits since then. A statement whose page was captured is
// right or wrong. The others stay pending.
func (a *Aspect) checkStatements(
	v *aspects.Visit, r *reading, statements []Statement,
) (pending []Statement, right, wrong int, err error) {
	for _, s := range statements {
		page, ok, err := a.Frontier.Get(s.URI)
		switch {
		case err != nil:
			return nil, 0, 0, err
		case !ok, v.Finished.Sub(s.At) > maxStatementAge:
		case !page.LastCapture.After(s.At):
			pending = append(pending, s)
		case page.LastChange.After(s.At):
			right++
			r.index.check(&page, s.At, true)
		default:
			wrong++
			r.index.check(&page, s.At, false)
		}
	}
	return pending, right, wrong, nil
}
