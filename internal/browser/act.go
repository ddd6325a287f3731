package browser

import (
	"encoding/json"
	"strconv"
)

// Says waits until the page shows a text.
func (p *Page) Says(text string) {
	p.t.Helper()
	p.Wait(`document.body?.innerText.includes(` + quoted(text) + `)`)
}

// Click clicks the first button or link of the content that has a text, as soon as it can be clicked.
func (p *Page) Click(text string) {
	p.t.Helper()
	const all = `[...document.querySelectorAll("main button, main a")]`
	with := `(b => b.textContent === ` + quoted(text) + ` && !b.disabled)`
	p.Wait(all + `.some` + with)
	p.Eval(all + `.find` + with + `.click()`)
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
