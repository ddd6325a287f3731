package alarm

import (
	"fmt"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// maxText is the number of bytes that are shown of what a program, a server or a stranger said.
const maxText = 500

// ArchiveTroubles returns the troubles with finished archive files, and with the copies of the store in a database.
func ArchiveTroubles(a api.Archive) []Trouble {
	list := append(append(sealedTrouble(a.Handover), lostTrouble(a.Lost)...), offloadTrouble(a.Offload)...)
	if a.Database != "" {
		list = append(list, Trouble{Kind: Database, Text: a.Database})
	}
	return list
}

// offloadTrouble returns the trouble that finished archive files cannot be moved or uploaded, if they cannot.
func offloadTrouble(o api.Offload) (list []Trouble) {
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

// sealedTrouble returns the trouble that finished archive files are not taken, if they are not.
func sealedTrouble(h api.Handover) []Trouble {
	if h.Since == nil {
		return nil
	}
	return []Trouble{{Kind: Sealed, Text: fmt.Sprintf(
		"%s not taken since %s; the files stay in the archive, and the daemon tries again; the reason is: %s",
		human.Count(h.Waiting, "finished WARC file"), h.Since.UTC().Format("2006-01-02 15:04:05 MST"), cut(h.Error, maxText),
	)}}
}

// lostTrouble returns the trouble that archive files are gone, if some are. It ends when they are back, when the
// operator says where they are, or declares them lost.
func lostTrouble(lost api.Lost) []Trouble {
	if lost.Absent == 0 {
		return nil
	}
	return []Trouble{{Kind: Lost, Text: fmt.Sprintf(
		"%s gone, such as %s; their payloads are archived again; bring them back, name their place in storage.elsewhere, "+
			"or declare them lost with arcrawl dedup lost FILE",
		human.Count(lost.Absent, "finished WARC file"), lost.Example,
	)}}
}
