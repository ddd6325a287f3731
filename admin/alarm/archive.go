package alarm

import (
	"fmt"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// ArchiveTroubles returns the troubles with finished archive files, and with the copies of the store in a database.
func ArchiveTroubles(a api.Archive) []Trouble {
	list := append(append(SealedTrouble(a.Handover), LostTrouble(a.Lost)...), offloadTrouble(a.Offload)...)
	if a.Database != "" {
		list = append(list, Trouble{Kind: Database, Text: a.Database})
	}
	return list
}

// offloadTrouble returns the trouble that finished archive files cannot be moved or uploaded, if they cannot.
func offloadTrouble(o api.Offload) (list []Trouble) {
	const maxText = 500 // bytes
	if o.Since != nil {
		list = append(list, Trouble{Kind: Folders, Text: fmt.Sprintf(
			"finished WARC files cannot be moved to storage.folders since %s; they stay, and the crawl pauses when the disk "+
				"is full; the reason is: %s", o.Since.UTC().Format("2006-01-02 15:04:05 MST"), cut(o.Error, maxText),
		)})
	}
	if u := o.Upload; u != nil && u.Since != nil {
		list = append(list, Trouble{Kind: Upload, Text: fmt.Sprintf(
			"%s not uploaded to %s since %s; the files stay in the archive, and the daemon tries again; the reason is: %s",
			human.Count(u.Waiting, "finished WARC file"), u.Bucket, u.Since.UTC().Format("2006-01-02 15:04:05 MST"),
			cut(u.Error, maxText),
		)})
	}
	return list
}
