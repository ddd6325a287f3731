package reports

import (
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// hostChoice reports whether a host is chosen.
type hostChoice = func(uri.Host) bool

// maxHeaderRows is the maximum number of rows in a report.
const maxHeaderRows = 10_000

// errEnough ends a listing at its maximum length.
var errEnough = errors.New("enough")

// exampleTypes holds a content type for each class of content.
var exampleTypes = [evaluators.Classes]string{evaluators.ClassText: "text/html", evaluators.ClassOther: "image/png"}

// headerReport returns how reliable the validators and dates in a store are, and whether they are believed under a
// configuration. It is about the hosts that only selects; nil selects all.
func headerReport(store *hosts.Reputation, c *config.Config, only hostChoice, now time.Time) (api.HeaderReport, error) {
	if only == nil {
		only = func(uri.Host) bool { return true }
	}
	out := api.HeaderReport{Rows: []api.HeaderTrust{}, Dates: []api.DateTrust{}, Indexes: []api.IndexTrust{}}
	for _, err := range []error{
		addValidators(&out, store, c, only, now), addDates(&out, store, only), addIndexes(&out, store, only),
	} {
		if out.More = out.More || errors.Is(err, errEnough); err != nil && !errors.Is(err, errEnough) {
			return out, err
		}
	}
	return out, nil
}

// addValidators adds a row for each validator of each host.
func addValidators(
	r *api.HeaderReport, store *hosts.Reputation, c *config.Config, only hostChoice, now time.Time,
) error {
	return store.Each(func(h uri.Host, known evaluators.Reputation) error {
		if !only(h) {
			return nil
		}
		if len(r.Rows) >= maxHeaderRows {
			return errEnough
		}
		for class, standings := range known {
			doubts := known.Doubts(exampleTypes[class], c.ForHost(h, now).Midfetch.Threshold)
			for by, s := range standings {
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
func addDates(r *api.HeaderReport, store *hosts.Reputation, only hostChoice) error {
	return store.EachDates(func(h uri.Host, known evaluators.Dates) error {
		if !only(h) {
			return nil
		}
		if len(r.Dates) >= maxHeaderRows {
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

// addIndexes adds a row for each index of each host.
func addIndexes(r *api.HeaderReport, store *hosts.Reputation, only hostChoice) error {
	return store.EachIndex(func(h uri.Host, all []evaluators.HostIndex) error {
		if !only(h) {
			return nil
		}
		for _, x := range all {
			if len(r.Indexes) >= maxHeaderRows {
				return errEnough
			}
			r.Indexes = append(r.Indexes, api.IndexTrust{
				Host: string(h), URI: x.URI, Right: x.Said.ChangeRight, False: x.Said.ChangeWrong,
				Heard: x.Heard.ChangeRight, LeftOut: x.Heard.ChangeWrong, Late: int64(x.Late.Seconds()),
				Every: int64(x.Every.Seconds()), Requests: x.Requests, Received: x.Received, Read: x.Read.UTC(),
				Followed: x.Followed,
			})
		}
		return nil
	})
}
