package alarm

import (
	"fmt"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// SealedTrouble returns the trouble that finished archive files are not taken, if they are not.
func SealedTrouble(h api.Handover) []Trouble {
	if h.Since == nil {
		return nil
	}
	const maxText = 500 // bytes of what a program or a server may have said
	return []Trouble{{Kind: Sealed, Text: fmt.Sprintf(
		"%s not taken since %s; the files stay in the archive, and the daemon tries again; the reason is: %s",
		human.Count(h.Waiting, "finished WARC file"), h.Since.UTC().Format("2006-01-02 15:04:05 MST"), cut(h.Error, maxText),
	)}}
}
