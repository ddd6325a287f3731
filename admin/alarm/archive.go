package alarm

import (
	"fmt"

	"github.com/arcrawl/arcrawl/admin/api"
)

// ArchiveTroubles returns the troubles with finished archive files.
func ArchiveTroubles(a api.Archive) []Trouble {
	return append(append(SealedTrouble(a.Handover), LostTrouble(a.Lost)...), offloadTrouble(a.Offload)...)
}

// offloadTrouble returns the trouble that finished archive files cannot be moved, if they cannot.
func offloadTrouble(o api.Offload) []Trouble {
	if o.Since == nil {
		return nil
	}
	const maxText = 500 // bytes
	return []Trouble{{Kind: Folders, Text: fmt.Sprintf(
		"finished WARC files cannot be moved to storage.folders since %s; they stay, and the crawl pauses when the disk is full; "+
			"the reason is: %s", o.Since.UTC().Format("2006-01-02 15:04:05 MST"), cut(o.Error, maxText),
	)}}
}
