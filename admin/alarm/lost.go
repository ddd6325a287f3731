package alarm

import (
	"fmt"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// LostTrouble returns the trouble that archive files are gone, if some are. It ends when they are back, when the
// operator says where they are, or declares them lost.
func LostTrouble(lost api.Lost) []Trouble {
	if lost.Absent == 0 {
		return nil
	}
	return []Trouble{{Kind: Lost, Text: fmt.Sprintf(
		"%s gone, such as %s; their payloads are archived again; bring them back, name their place in storage.elsewhere, "+
			"or declare them lost with arcrawl dedup lost FILE",
		human.Count(lost.Absent, "finished WARC file"), lost.Example,
	)}}
}
