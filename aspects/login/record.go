package login

import (
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/warcout"
)

// Notes appends the annotations of crawl.log about a request and its connection. otherwise says that the last capture
// was made by another request.
func Notes(r *aspects.Request, notes []string, got *fetch.Capture, otherwise bool) []string {
	if r.Permission != "" {
		notes = append(notes, crawllog.Permission+r.Permission)
	}
	if s := got.Security; s != nil && s.Accepted != "" {
		notes = append(notes, crawllog.AcceptedExpired)
	}
	if w := r.Exchange.Way; w != nil {
		notes = append(notes, crawllog.Way+w.String())
	}
	if otherwise {
		notes = append(notes, crawllog.OtherRequest)
	}
	if r.Audit != "" {
		notes = append(notes, "audit")
	}
	return notes
}

// Metadata appends the fields of the metadata record about a request and its connection.
func Metadata(r *aspects.Request, fields []warcout.Field, got *fetch.Capture) []warcout.Field {
	if got.Security != nil {
		fields = append(fields, warcout.Field{Name: "tlsCertificate", Value: got.Security.Certificate},
			warcout.Field{Name: "tlsAccepted", Value: history.ASCII(got.Security.Accepted)})
	}
	if r.Permission != "" {
		fields = append(fields, warcout.Field{Name: "robotsPermission", Value: r.Permission})
	}
	if w := r.Exchange.Way; w != nil {
		fields = append(fields, warcout.Field{Name: "wayOfConnection", Value: w.String()})
	}
	if names := redacted(r); names != "" {
		fields = append(fields, warcout.Field{Name: "requestRedacted", Value: names})
	}
	return fields
}
