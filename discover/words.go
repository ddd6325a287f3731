package discover

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
)

const (
	minHeadline = 4       // words of a text that may be a headline; "12 comments" and "5 min ago" have fewer
	maxWording  = 4 << 10 // bytes of text in one link
)

// wording gathers the headlines and teasers by which a page links to others. The zero value gathers nothing.
type wording struct {
	on   bool
	link int    // place of the link whose element is being read, or none
	run  []byte // text since the last element that is not part of a line
	read int    // bytes of the text of the link
}

// text adds a text between two tags.
func (w *wording) text(text []byte) {
	if w.on && w.link != none {
		text = text[:min(len(text), maxWording-w.read)]
		w.read += len(text)
		w.run = append(w.run, text...)
	}
}

// breaks ends a headline at a tag with this name, unless the tag is part of a line.
func (w *wording) breaks(name []byte, links []Link) {
	if !w.on || w.link == none {
		return
	}
	switch string(name) {
	case "b", "em", "i", "mark", "q", "strong", "wbr":
		return
	}
	words := bytes.Fields(w.run)
	if w.run = w.run[:0]; len(words) < minHeadline {
		return
	}
	l := &links[w.link]
	l.Words = max(l.Words+uint16(xxhash.Sum64(bytes.Join(words, []byte{' '}))), 1)
}

// begin begins the text of a link at a place.
func (w *wording) begin(place int) { w.link, w.read = place, 0 }
