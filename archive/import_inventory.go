package archive

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
)

// holding says what the index holds of this crawl or of one imported file.
type holding struct {
	Number     uint32 `json:"number"` // 0 = this crawl
	Name       string `json:"name"`
	State      string `json:"state"`
	Crawl      string `json:"crawl,omitempty"`
	Hash       string `json:"hash,omitempty"`
	Size       int64  `json:"size"`       // bytes of the file
	Originals  int64  `json:"originals"`  // records that are first of their payload, of any URI
	Bytes      int64  `json:"bytes"`      // of the payloads of originals, if known
	Referred   int64  `json:"referred"`   // originals that revisits refer to
	References int64  `json:"references"` // revisits that refer to originals
	Changed    string `json:"changed,omitempty"`
}

// inventory reads the whole index. The first row is about this crawl, and the others about imported files, including
// removed ones until [dedup.Index.Purge].
func inventory(ctx context.Context, i *dedup.Index) ([]holding, error) {
	rows := []holding{{Name: "(this crawl)", State: dedup.Active.String()}}
	for _, c := range i.Collections() {
		row := holding{
			Number: c.Number, Name: c.Name, State: c.State.String(), Crawl: c.Crawl, Hash: c.Hash, Size: c.Size, Changed: "-",
		}
		if !c.Changed.IsZero() {
			row.Changed = c.Changed.UTC().Format(time.RFC3339)
		}
		rows = append(rows, row)
	}
	into := map[uint32]*holding{} // by the number of the collection
	for n := range rows {
		into[rows[n].Number] = &rows[n]
	}
	type name struct{ id, uri string }
	err := i.EachPayload(ctx, func(all []dedup.Held) {
		seen := map[name]bool{} // a record under several URIs counts once
		for _, h := range all {
			row, n := into[h.Collection], name{h.RecordID, h.URI}
			if seen[n] || row == nil {
				continue
			}
			seen[n] = true
			row.Originals++
			row.Bytes += h.Size
			if h.Revisits > 0 {
				row.Referred++
				row.References += h.Revisits
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}
