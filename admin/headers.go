package admin

import (
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/uri"
)

// exampleTypes holds a content type for each class of content.
var exampleTypes = [evaluators.Classes]string{evaluators.ClassText: "text/html", evaluators.ClassOther: "image/png"}

// Headers reports how reliable the validators and dates in a store are, and whether they are believed under a
// configuration. It reports on the hosts that only selects; nil selects all.
func Headers(store *reputation.Store, c *config.Config, only choice, now time.Time) (api.HeaderReport, error) {
	if only == nil {
		only = func(uri.Host) bool { return true }
	}
	out := api.HeaderReport{Rows: []api.HeaderTrust{}, Dates: []api.DateTrust{}}
	for _, err := range []error{addValidators(&out, store, c, only, now), addDates(&out, store, only)} {
		switch {
		case errors.Is(err, errEnough):
			out.More = true
		case err != nil:
			return out, err
		}
	}
	return out, nil
}

// addValidators adds a row for each validator of each host.
func addValidators(r *api.HeaderReport, store *reputation.Store, c *config.Config, only choice, now time.Time) error {
	return store.Each(func(h uri.Host, known evaluators.Reputation) error {
		if !only(h) {
			return nil
		}
		if len(r.Rows) >= maxRows {
			return errEnough
		}
		for class, of := range known {
			doubts := known.Doubts(exampleTypes[class], c.ForHost(h, now).Midfetch.Threshold)
			for by, s := range of {
				if s != (evaluators.Standing{}) {
					r.Rows = append(r.Rows, api.HeaderTrust{
						Host: string(h), Content: evaluators.Class(class).String(), Validator: evaluators.Witness(by).String(),
						ChangeRight: s.ChangeRight, ChangeFalse: s.ChangeWrong, SameRight: s.SameRight, SameFalse: s.SameWrong,
						Missing: s.Missing, Known: s.Known, Precision: s.Precision(), Believed: !doubts[by],
					})
				}
			}
		}
		return nil
	})
}

// addDates adds a row for the dates of each host.
func addDates(r *api.HeaderReport, store *reputation.Store, only choice) error {
	return store.EachDates(func(h uri.Host, known evaluators.Dates) error {
		if !only(h) {
			return nil
		}
		if len(r.Dates) >= maxRows {
			return errEnough
		}
		for i, s := range known {
			if about := evaluators.Dating(i); s != (evaluators.Standing{}) {
				r.Dates = append(r.Dates, api.DateTrust{
					Host: string(h),
					Of:   about.String(), Right: s.ChangeRight, False: s.ChangeWrong, Known: s.Known, Precision: s.Precision(),
					Believed: known.Believed(about),
				})
			}
		}
		return nil
	})
}

// predictions counts the predictions of all validators on all hosts, by prediction and result.
type predictions struct {
	changeRight, changeFalse, sameRight, sameFalse, missing int64
}

// predicted adds up the predictions in a store.
func predicted(store *reputation.Store) (p predictions, err error) {
	err = store.Each(func(_ uri.Host, r evaluators.Reputation) error {
		for _, of := range r {
			for _, s := range of {
				p.changeRight += s.ChangeRight
				p.changeFalse += s.ChangeWrong
				p.sameRight += s.SameRight
				p.sameFalse += s.SameWrong
				p.missing += s.Missing
			}
		}
		return nil
	})
	return p, err
}

// predictions returns the predictions as of the last minute. It reads the rows of every host.
func (w *Window) predictions(now time.Time) predictions {
	w.mu.Lock()
	known, at := w.predicted, w.predictedAt
	w.mu.Unlock()
	if now.Sub(at) < time.Minute && !at.IsZero() {
		return known
	}
	p, err := predicted(w.o.Trust)
	if err != nil {
		w.o.Log.Error().Err(err).Msg("could not read the reputations of headers; the metrics show older values")
		return known
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.predicted, w.predictedAt = p, now
	return p
}
