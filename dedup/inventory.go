package dedup

import (
	"context"
	"time"
)

// Row says what the index holds of this crawl or of one imported file.
type Row struct {
	Number     uint32 `json:"number"` // 0 = this crawl
	Name       string `json:"name"`
	State      string `json:"state"`
	Crawl      string `json:"crawl,omitempty"`
	Hash       string `json:"hash,omitempty"`
	Size       int64  `json:"size"`       // bytes of the file
	Originals  int64  `json:"originals"`  // records that are first of their payload
	Bytes      int64  `json:"bytes"`      // of the payloads of originals
	Referred   int64  `json:"referred"`   // originals that revisits refer to
	References int64  `json:"references"` // revisits that refer to originals
	Changed    string `json:"changed,omitempty"`
}

// Inventory reads the whole index. The first row is about this crawl, and the others about imported files, including
// removed ones until [Index.Purge].
func (i *Index) Inventory(ctx context.Context) ([]Row, error) {
	holdings, err := i.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	rows := []Row{{Name: "(this crawl)", State: Active.String()}}
	for _, c := range i.Collections() {
		row := Row{
			Number: c.Number, Name: c.Name, State: c.State.String(), Crawl: c.Crawl, Hash: c.Hash, Size: c.Size, Changed: "-",
		}
		if !c.Changed.IsZero() {
			row.Changed = c.Changed.UTC().Format(time.RFC3339)
		}
		rows = append(rows, row)
	}
	for n := range rows {
		if h := holdings[rows[n].Number]; h != nil {
			rows[n].Originals, rows[n].Bytes = h.Originals, h.Bytes
			rows[n].Referred, rows[n].References = h.Referred, h.References
		}
	}
	return rows, nil
}
