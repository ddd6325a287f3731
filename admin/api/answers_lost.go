package api

import (
	"context"
	"net/http"

	"github.com/arcrawl/arcrawl/dedup"
)

// LostFiles is an order about WARC files: what was in them is archived again, or not.
type LostFiles struct {
	Files []string `json:"files"` // names, without folders
	Are   string   `json:"state"` // lost, moved or found
}

// LostAnswer is the result of an order about WARC files.
type LostAnswer struct {
	Changed int    `json:"changed"` // files whose state was another
	Losses  []Loss `json:"losses"`  // all lost and moved files, at most 10,000
}

// Loss is a WARC file of which part is lost, or which was moved.
type Loss struct {
	File    string `json:"file"`
	From    int64  `json:"from_byte"` // the part from this byte on is lost
	Cause   string `json:"cause"`     // cut off, absent, declared lost or moved
	Pending bool   `json:"pending"`   // the URIs whose payload was in it are not due yet
}

// maxLosses is the maximum number of losses in an answer.
const maxLosses = 10_000

// LossesOf returns losses as an answer has them.
func LossesOf(all []dedup.Loss) []Loss {
	list := []Loss{}
	for _, l := range all[:min(len(all), maxLosses)] {
		list = append(list, Loss{File: l.File, From: l.From, Cause: l.Cause.String(), Pending: l.Pending})
	}
	return list
}

// CountLosses returns the numbers of losses by cause.
func CountLosses(all []dedup.Loss) (n Lost) {
	for _, l := range all {
		switch l.Cause {
		case dedup.Absent:
			if n.Absent++; n.Example == "" {
				n.Example = l.File
			}
		case dedup.CutOff:
			if l.From > 0 { // otherwise it is a file of an earlier archive that was removed
				n.CutOff++
			}
		case dedup.Declared:
			n.Declared++
		}
	}
	return n
}

// Lose records that WARC files are lost, moved or found. The daemon then makes the URIs of lost files due, in the
// background.
func (c *Client) Lose(ctx context.Context, o LostFiles) (LostAnswer, error) {
	return ask[LostAnswer](ctx, c, http.MethodPost, "/archive/lost", nil, o)
}
