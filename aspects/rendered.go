package aspects

import (
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// Rendered decides about the next visit of a page once more, after the visit: by the text that a browser shows. A wing
// does. Without it the source of the page decides.
type Rendered interface {
	// After returns what the wait after a visit followed from, for the report of the visit. The wait counts from a time.
	After(v *Visit, from time.Time) any
	// Note appends what the text of the rendering before said.
	Note(v *Visit, notes []string) []string
	// Settle notes in the record that is stored after a visit that crawl.log has the text of Note.
	Settle(r *frontier.Record)
}
