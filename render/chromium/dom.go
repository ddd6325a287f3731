package chromium

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"
)

// errScript says that a script of ours failed in a page.
var errScript = errors.New("the script failed")

// evaluate returns the value of an expression in a page.
func evaluate[T any](ctx context.Context, session *chromedp.Target, expression string) (v T, err error) {
	byValue := true
	res, err := cdp.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ReturnByValue: &byValue, AwaitPromise: &byValue,
	})
	if err != nil {
		return v, err
	}
	if res.ExceptionDetails != nil {
		return v, scriptError(res.ExceptionDetails)
	}
	return v, json.Unmarshal(res.Result.Value, &v)
}

// scriptError returns the error of a script of ours.
func scriptError(x *runtime.ExceptionDetails) error {
	text := x.Text
	if x.Exception != nil {
		text += ": " + x.Exception.Description
	}
	return fmt.Errorf("%w: %s", errScript, text)
}

// shown holds the values that a page returns about itself.
type shown struct {
	URI    string `json:"uri"`
	Title  string `json:"title"`
	Height int64  `json:"height"`
}

// read reads what the page shows.
func (pg *page) read(r *Result) error {
	ctx, session := pg.tab, pg.session
	s, err := evaluate[shown](ctx, session, `({uri: location.href, title: String(document.title).slice(0, 1024),
		height: Math.max(document.documentElement?.scrollHeight ?? 1, 1)})`)
	if err != nil {
		return fmt.Errorf("read the title: %w", err)
	}
	r.URI, r.Title = s.URI, s.Title
	if r.Text, err = pg.text(); err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	depth, pierce := int64(-1), true
	doc, err := cdp.Call(ctx, session, dom.GetDocument, dom.GetDocumentParams{Depth: &depth, Pierce: &pierce})
	if err == nil {
		var b bytes.Buffer
		writeNode(&b, doc.Root, 0)
		r.DOM = b.Bytes()
	} else { // it is too deep for the protocol
		text, err := evaluate[string](ctx, session, fmt.Sprintf("document.documentElement.outerHTML.slice(0, %d)", maxDOM))
		if err != nil {
			return fmt.Errorf("read the DOM: %w", err)
		}
		r.DOM = []byte(text)
	}
	if err := pg.takePicture(r, s.Height); err != nil {
		return err
	}
	r.Compared, err = pg.textWithout(r.Text)
	return err
}

// takePicture takes a picture of the whole page, if one is wanted.
func (pg *page) takePicture(r *Result, pageHeight int64) error {
	if !pg.job.Picture {
		return nil
	}
	picture, err := pg.picture(pg.tab, pageHeight)
	if err != nil {
		return fmt.Errorf("take a picture: %w", err)
	}
	r.Picture = picture
	return nil
}

// picture returns a picture of the whole page.
func (pg *page) picture(ctx context.Context, pageHeight int64) ([]byte, error) {
	beyond := true
	shot, err := cdp.Call(ctx, pg.session, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{
		Format: cdppage.CaptureScreenshotFormatPng, CaptureBeyondViewport: &beyond,
		Clip: &cdppage.Viewport{Width: width, Height: float64(min(pageHeight, maxHeight)), Scale: 1},
	})
	return shot.Data, err
}

// maxDOM is the maximum length of a DOM in bytes: what is behind it is left out. Without it, frames in frames would
// grow with each level, in which their markup is escaped again.
const maxDOM = 16 << 20

// maxDepth is the maximum depth of a document that is written.
const maxDepth = 1000

// The types of nodes in a DOM.
const (
	elementNode  = 1
	textNode     = 3
	commentNode  = 8
	documentNode = 9
	doctypeNode  = 10
	fragmentNode = 11
)

// writeNode writes a node as HTML. Shadow trees become declarative ones, and documents of frames srcdoc attributes.
// Nodes that the browser got wrong are skipped.
func writeNode(b *bytes.Buffer, n *cdp.Node, depth int) {
	if n == nil || depth > maxDepth || b.Len() >= maxDOM {
		return
	}
	switch n.NodeType {
	case documentNode, fragmentNode:
		writeChildren(b, n, depth)
	case doctypeNode:
		b.WriteString("<!DOCTYPE " + n.NodeName + ">")
	case commentNode:
		b.WriteString("<!--" + strings.ReplaceAll(n.NodeValue, "--", "- -") + "-->")
	case textNode:
		b.WriteString(html.EscapeString(n.NodeValue))
	case elementNode:
		writeElement(b, n, depth)
	}
}

func writeChildren(b *bytes.Buffer, n *cdp.Node, depth int) {
	for _, c := range n.Children {
		writeNode(b, c, depth+1)
	}
}

func writeElement(b *bytes.Buffer, n *cdp.Node, depth int) {
	name := n.LocalName
	b.WriteString("<" + name)
	for i := 0; i+1 < len(n.Attributes); i += 2 {
		if n.ContentDocument != nil && n.Attributes[i] == "srcdoc" {
			continue
		}
		fmt.Fprintf(b, ` %s="%s"`, n.Attributes[i], html.EscapeString(n.Attributes[i+1]))
	}
	if n.ContentDocument != nil && isOwn(n.ContentDocument.DocumentURL) {
		var inner bytes.Buffer
		writeNode(&inner, n.ContentDocument, depth+1)
		if escaped := html.EscapeString(inner.String()); b.Len()+len(escaped) < maxDOM {
			fmt.Fprintf(b, ` srcdoc="%s"`, escaped)
		}
	}
	b.WriteString(">")
	if isVoid(name) {
		return
	}
	for _, root := range n.ShadowRoots {
		if root == nil || root.ShadowRootType == cdp.ShadowRootTypeUserAgent {
			continue
		}
		fmt.Fprintf(b, `<template shadowrootmode="%s">`, root.ShadowRootType)
		writeChildren(b, root, depth)
		b.WriteString("</template>")
	}
	writeNode(b, n.TemplateContent, depth+1)
	if isRaw(name) {
		for _, c := range n.Children {
			if c != nil {
				b.WriteString(c.NodeValue)
			}
		}
	} else {
		writeChildren(b, n, depth)
	}
	b.WriteString("</" + name + ">")
}

// isOwn reports whether the document of a frame has no URI of its own, so that only the page can show it.
func isOwn(uri string) bool {
	return uri == "" || strings.HasPrefix(uri, "about:") || strings.HasPrefix(uri, "blob:")
}

// isVoid reports whether an element has no end tag.
func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// isRaw reports whether the text of an element is not escaped.
func isRaw(name string) bool {
	switch name {
	case "script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext":
		return true
	}
	return false
}
