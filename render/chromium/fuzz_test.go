package chromium

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domsnapshot"
)

// FuzzSnapshot writes the text of arbitrary snapshots, which a page may have broken a browser to send. Numbers that
// lead nowhere are skipped, and the text is never longer than its bound.
func FuzzSnapshot(f *testing.F) {
	for _, snapshot := range []string{
		`{"strings":["block","visible","Hello","inline","marker"],"documents":[{"nodes":{"parentIndex":[-1,0,1],"pseudoType":{"index":[2],"value":[4]}},` +
			`"layout":{"nodeIndex":[0,1,2],"styles":[[0,1],[3,1],[0,1]],"text":[-1,2,2]}}]}`,
		`{"strings":["x"],"documents":[{"nodes":{"contentDocumentIndex":{"index":[0,0],"value":[0]}},"layout":{"nodeIndex":[0,99],"text":[0]}}]}`,
		`{"strings":[],"documents":[{"nodes":{"parentIndex":[0]},"layout":{"nodeIndex":[0,-1],"styles":[[9]],"text":[7,-9]}},{},null]}`,
		`{"documents":[null]}`, `{}`,
	} {
		f.Add([]byte(snapshot))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got domsnapshot.CaptureSnapshotResult
		if json.Unmarshal(text, &got) != nil {
			t.Skip("no snapshot")
		}
		w := textWriter{strings: got.Strings, documents: got.Documents, seen: map[int64]bool{}}
		w.document(0, 0)
		longest, pieces := 0, 0
		for _, s := range got.Strings {
			longest = max(longest, len(s))
		}
		for _, d := range got.Documents {
			if d != nil && d.Layout != nil {
				pieces += len(d.Layout.NodeIndex)
			}
		}
		if n := len(strings.TrimSpace(w.b.String())); n > maxText+1 || n > (longest+3)*pieces {
			t.Fatalf("%d bytes of text from %d places of at most %d bytes", n, pieces, longest)
		}
	})
}

// FuzzDOM writes arbitrary trees of nodes, which a page may have broken a browser to send.
func FuzzDOM(f *testing.F) {
	for _, tree := range []string{
		`{"nodeType":9,"children":[{"nodeType":10,"nodeName":"html"},{"nodeType":1,"localName":"p","attributes":["a","\"<","b"],` +
			`"children":[{"nodeType":3,"nodeValue":"<&"},{"nodeType":8,"nodeValue":"-->"}]}]}`,
		`{"nodeType":1,"localName":"iframe","attributes":["srcdoc","x"],"contentDocument":{"nodeType":9,"documentURL":"about:srcdoc","children":[null]}}`,
		`{"nodeType":1,"localName":"x-a","shadowRoots":[null,{"shadowRootType":"open","children":[{"nodeType":3,"nodeValue":"a"}]}],"templateContent":{"nodeType":11}}`,
		`{"nodeType":1,"localName":"script","children":[null,{"nodeType":3,"nodeValue":"1<2"}]}`, `{"nodeType":-1}`, `null`,
	} {
		f.Add([]byte(tree))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var root *cdp.Node
		if json.Unmarshal(text, &root) != nil {
			t.Skip("no tree")
		}
		var b bytes.Buffer
		if writeNode(&b, root, 0); b.Len() > maxDOM+10*len(text) {
			t.Fatalf("%d bytes from %d", b.Len(), len(text))
		}
	})
}

// TestFramesInFramesAreBounded writes a page of frames in frames, whose markup is escaped at each level again.
func TestFramesInFramesAreBounded(t *testing.T) {
	t.Parallel()
	n := &cdp.Node{NodeType: textNode, NodeValue: strings.Repeat("<", 400_000)}
	for range 15 {
		n = &cdp.Node{
			NodeType: elementNode, LocalName: "iframe", ContentDocument: &cdp.Node{NodeType: documentNode, Children: []*cdp.Node{n}},
		}
	}
	var b bytes.Buffer
	if writeNode(&b, n, 0); b.Len() > maxDOM || b.Len() < 100 {
		t.Errorf("the DOM has %d bytes", b.Len())
	}
}

// TestTheTextIsBounded writes texts of a page that are longer than the bound, alone and together.
func TestTheTextIsBounded(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][]string{
		"one text": {strings.Repeat("ä", maxText)}, "two texts": {strings.Repeat("a", maxText-1), strings.Repeat("ä", maxText)},
	} {
		d := &domsnapshot.DocumentSnapshot{Nodes: &domsnapshot.NodeTreeSnapshot{}, Layout: &domsnapshot.LayoutTreeSnapshot{}}
		for i := range texts {
			d.Layout.NodeIndex = append(d.Layout.NodeIndex, int64(i))
			d.Layout.Text = append(d.Layout.Text, domsnapshot.StringIndex(i))
		}
		w := textWriter{strings: texts, documents: []*domsnapshot.DocumentSnapshot{d}, seen: map[int64]bool{}}
		w.document(0, 0)
		if n := w.b.Len(); n > maxText || n < maxText-1 || !utf8.ValidString(w.b.String()) {
			t.Errorf("%s: %d bytes, want at most %d, of whole characters", name, n, maxText)
		}
	}
}
