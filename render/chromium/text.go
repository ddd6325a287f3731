package chromium

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domsnapshot"
)

// text returns the text of the page that a reader sees, with a line for each block. It has what has a place in the
// layout, also in frames and shadow trees.
func (pg *page) text() (string, error) {
	got, err := cdp.Call(pg.tab, pg.session, domsnapshot.CaptureSnapshot, domsnapshot.CaptureSnapshotParams{
		ComputedStyles: []string{"display", "visibility"},
	})
	if err != nil {
		return "", err
	}
	w := textWriter{strings: got.Strings, documents: got.Documents, seen: map[int64]bool{}}
	w.document(0, 0)
	return strings.TrimSpace(w.b.String()), nil
}

// textWriter writes the text of a snapshot. Indexes that the browser got wrong are skipped.
type textWriter struct {
	strings   []string
	documents []*domsnapshot.DocumentSnapshot
	seen      map[int64]bool // documents
	b         strings.Builder
}

// document writes the text of a document and, at their places, of the frames in it.
func (w *textWriter) document(i int64, depth int) {
	if i < 0 || i >= int64(len(w.documents)) || w.seen[i] || depth > maxFrames {
		return
	}
	w.seen[i] = true
	d := w.documents[i]
	if d == nil || d.Nodes == nil || d.Layout == nil {
		return
	}
	blocks := map[int64]bool{} // nodes that begin a line
	frames, markers := framesOf(d.Nodes), w.markersOf(d.Nodes)
	last := int64(-1)
	for pos, node := range d.Layout.NodeIndex {
		display, visibility := w.style(d.Layout, pos, 0), w.style(d.Layout, pos, 1)
		blocks[node] = display != "" && !strings.HasPrefix(display, "inline") && display != "contents"
		if inner, ok := frames[node]; ok && visibility != "hidden" {
			w.newLine()
			w.document(inner, depth+1)
			w.newLine()
			continue
		}
		text := ""
		if pos < len(d.Layout.Text) {
			text = w.at(int64(d.Layout.Text[pos]))
		}
		if text == "" || visibility == "hidden" || markers[node] {
			continue
		}
		if block := blockOf(d.Nodes.ParentIndex, blocks, node); block != last {
			w.newLine()
			last = block
			text = strings.TrimLeft(text, " \n")
		}
		if room := maxText - w.b.Len(); len(text) > room {
			text = strings.ToValidUTF8(text[:max(0, room)], "")
		}
		w.b.WriteString(text)
	}
}

// framesOf returns the numbers of the documents that nodes show.
func framesOf(n *domsnapshot.NodeTreeSnapshot) map[int64]int64 {
	frames := map[int64]int64{}
	if f := n.ContentDocumentIndex; f != nil {
		for i, node := range f.Index[:min(len(f.Index), len(f.Value))] {
			frames[node] = f.Value[i]
		}
	}
	return frames
}

// markersOf returns the nodes that hold the bullet or number of a list item.
func (w *textWriter) markersOf(n *domsnapshot.NodeTreeSnapshot) map[int64]bool {
	markers := map[int64]bool{}
	if p := n.PseudoType; p != nil {
		for i, node := range p.Index[:min(len(p.Index), len(p.Value))] {
			if w.at(int64(p.Value[i])) == "marker" {
				markers[node] = true
			}
		}
	}
	return markers
}

// blockOf returns the nearest ancestor of a text that begins a line, or -1.
func blockOf(parents []int64, blocks map[int64]bool, node int64) int64 {
	for range maxDepth {
		if node < 0 || node >= int64(len(parents)) {
			return -1
		}
		if node = parents[node]; blocks[node] {
			return node
		}
	}
	return -1
}

func (w *textWriter) newLine() {
	if s := w.b.String(); s != "" && s[len(s)-1] != '\n' {
		w.b.WriteByte('\n')
	}
}

// style returns a computed style of a node in the layout; "" if it has none.
func (w *textWriter) style(l *domsnapshot.LayoutTreeSnapshot, at, style int) string {
	if at >= len(l.Styles) || style >= len(l.Styles[at]) {
		return ""
	}
	return w.at(l.Styles[at][style])
}

// at returns a string of the snapshot; "" if there is none.
func (w *textWriter) at(i int64) string {
	if i < 0 || i >= int64(len(w.strings)) {
		return ""
	}
	return w.strings[i]
}

// maxFrames is the maximum depth of frames in frames whose text is read.
const maxFrames = 10

// hide hides all elements that selectors match. Scripts of the page no longer run, so nothing brings them back. A
// selector that the browser does not know matches nothing.
const hide = `(selectors => {
	const hideIn = (root, depth) => {
		for (const s of selectors) try { for (const e of root.querySelectorAll(s)) e.style.setProperty("display", "none", "important") } catch {}
		for (const e of root.querySelectorAll("*")) {
			if (e.shadowRoot) hideIn(e.shadowRoot, depth);
			try { if (e.contentDocument && depth < %d) hideIn(e.contentDocument, depth + 1) } catch {}
		}
	};
	hideIn(document, 0);
	return true;
})(%s)`

// textWithout returns the text without the elements that are not compared. all is the whole text.
func (pg *page) textWithout(all string) (string, error) {
	if len(pg.job.Without) == 0 {
		return all, nil
	}
	list, err := json.Marshal(pg.job.Without)
	if err != nil {
		return "", err
	}
	if _, err := evaluate[bool](pg.tab, pg.session, fmt.Sprintf(hide, maxFrames, list)); err != nil {
		return "", fmt.Errorf("hide what is not compared: %w", err)
	}
	return pg.text()
}
