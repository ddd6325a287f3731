package browser

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Says waits until the page shows a text.
func (p *Page) Says(text string) {
	p.t.Helper()
	p.Wait(`document.body?.innerText.includes(` + quoted(text) + `)`)
}

// Click clicks the first button or link of the content that has a text, as soon as it can be clicked. While a dialog is
// open, it clicks a button of the dialog.
func (p *Page) Click(text string) {
	p.t.Helper()
	const all = `[...document.querySelectorAll(document.querySelector("dialog[open]") ? "dialog button" : "main button, main a")]`
	p.ClickOn(all + `.find((b) => b.textContent === ` + quoted(text) + ` && !b.disabled)`)
}

// ClickOn clicks the element that a JavaScript expression finds, as soon as it finds one. It looks and clicks at one
// moment: a page may be drawn again between two.
func (p *Page) ClickOn(expression string) {
	p.t.Helper()
	p.Wait(`(() => { const e = ` + expression + `; e?.click(); return !!e })()`)
}

// Axe returns what axe-core finds in the page. The script is the one of axe-core; rules are the options of its run.
func (p *Page) Axe(script, rules string) (faults []string) {
	p.t.Helper()
	p.Eval(script + "; 0")
	got := p.Eval(`axe.run(document, ` + rules + `).then((r) => r.violations.map(
		(v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html).join(" ").slice(0, 600)))`)
	if err := json.Unmarshal([]byte(got), &faults); err != nil {
		p.t.Fatalf("%v: %s", err, strconv.Quote(got))
	}
	return faults
}

// quoted returns a text as JavaScript.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a text has no error
	return string(b)
}

// Check opens the details of a page of the dashboard, and reports what no page may show: text that a script made of
// nothing or of an attack, and parts outside the window. It also reports what axe-core finds; see [Page.Axe]. It
// returns the text and the title of the page.
func (p *Page) Check(axe, rules, name string) (text string) {
	p.t.Helper()
	p.Eval(`for (const d of document.querySelectorAll("main details")) d.open = true`)
	text = p.Eval(`document.body.innerText + " title: " + document.title`)
	for _, bad := range []string{"title: taken", "undefined", "NaN", "Error"} {
		if strings.Contains(text, bad) {
			p.t.Errorf("the page %q shows %q:\n%.3000s", name, bad, text)
		}
	}
	if p.Wait(`document.getElementById("me").textContent !== ""`); p.Eval(Outside) != "[]" {
		p.t.Errorf("the page %q is wider than the window: %s", name, p.Eval(Outside))
	}
	for _, fault := range p.Axe(axe, rules) {
		p.t.Errorf("the page %q: %s", name, fault)
	}
	return text
}

// Outside is an expression for what a reader does not see: elements and texts that reach out of the window, and
// captions that are cut. Tables and film strips scroll. In a wide window no table is wider than its page. There and on
// a phone the header has one line, of 56 pixels.
const Outside = `[
	...[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll table, .film, .skip, .unseen, svg") && e.getBoundingClientRect().right > innerWidth + 1),
	...[document.body].filter(() => document.documentElement.scrollWidth > innerWidth),
	...[...document.querySelectorAll(".scroll")].filter((e) => innerWidth >= 1280 && e.scrollWidth > e.clientWidth + 1),
	...[...document.querySelectorAll("caption")].filter((e) => (e.firstElementChild || e).getBoundingClientRect().right > e.closest(".scroll").getBoundingClientRect().right),
	...[...document.querySelectorAll("header")].filter((e) => (innerWidth > 1240 || innerWidth < 700) && e.offsetHeight > 57),
].map((e) => e.outerHTML.slice(0, 200))`
