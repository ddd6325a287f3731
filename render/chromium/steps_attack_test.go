package chromium_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// TestHostilePagesDoNotDeceiveSteps shows pages that fight the steps, one after the other in the same browser. Each
// ends within its bounds.
func TestHostilePagesDoNotDeceiveSteps(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{})
	more := chromium.Step{Name: "more", Click: []string{".more"}, Times: 30}
	last := chromium.Step{Name: "last", Click: []string{".last"}}
	for _, c := range []struct {
		name, html string
		steps      []chromium.Step
		want       []string // parts of what came of the steps; alternatives are separated by |
		most       int      // requests
	}{
		{
			"a button that comes again forever, each time with a new request",
			`<script>let n = 0; const add = () => { const b = document.createElement("button"); b.className = "more"; b.textContent = "x";
				b.onclick = () => { b.remove(); fetch("/n" + ++n); add() }; document.body.append(b) }; onload = add</script>`,
			[]chromium.Step{more},
			[]string{"as often as it may|render.max_requests"},
			41,
		},
		{
			"a button that makes ten thousand requests",
			`<button class=more onclick="for (let i = 0; i < 10000; i++) fetch('/n' + i).catch(() => {})">x</button>`,
			[]chromium.Step{more},
			[]string{"render.max_requests|did not answer"},
			41,
		},
		{
			"a handler that never ends",
			`<button class=more onclick="for (;;);">x</button><button class=last onclick="fetch('/last.json')">x</button>`,
			[]chromium.Step{{Name: "more", Click: []string{".more"}}, last},
			[]string{"did not answer", "1 requests"},
			5,
		},
		{
			"replaced functions",
			`<button class=last onclick="fetch('/last.json')">x</button><script>
				const bad = () => { for (;;); };
				for (const p of [Document.prototype, Element.prototype, DocumentFragment.prototype, HTMLElement.prototype, Storage.prototype, EventTarget.prototype, Array.prototype, WeakSet.prototype])
					for (const n of ["querySelectorAll", "querySelector", "click", "getBoundingClientRect", "checkVisibility", "getItem", "scrollIntoView", "dispatchEvent", "flatMap", "find", "filter", "has"])
						if (n in p) p[n] = bad;
				globalThis.steps = {click: bad}; Object.entries = JSON.parse = JSON.stringify = bad;
				Object.defineProperty(window, "localStorage", {get: bad})</script>`,
			[]chromium.Step{last, {Name: "store", Store: map[string]string{"a": "b"}}, {Name: "scroll", Scroll: true}},
			[]string{"1 requests", "it is stored", "the end of the page"},
			5,
		},
		{
			"names that hide methods",
			`<form><input name=click><input name=getAttribute><input name=dispatchEvent><input name=childNodes><button class=last type=button onclick="fetch('/last.json')">x</button></form>
				<img name=querySelectorAll><img name=querySelector><img name=createTreeWalker><img name=scrollingElement><img name=baseURI><form name=body></form>`,
			[]chromium.Step{last, {Name: "wait", Wait: ".last"}},
			[]string{"1 requests", "it is there"},
			15,
		},
		{
			"dialogs without an end",
			`<button class=more onclick="for (;;) alert(1)">x</button><button class=last onclick="fetch('/last.json')">x</button>`,
			[]chromium.Step{{Name: "more", Click: []string{".more"}, Limit: 20 * time.Second}, last},
			[]string{"did not answer|limit", ""},
			5,
		},
		{
			"a page that goes elsewhere after a click",
			`<button class=more onclick="let n = 0; setInterval(() => { if (n++ < 5) location = '/left' + n }, 150)">x</button>`,
			[]chromium.Step{more},
			[]string{"leads to another page|nothing new"},
			5,
		},
		{
			"a document that is emptied",
			`<button class=more onclick="document.open(); fetch('/last.json')">x</button>`,
			[]chromium.Step{more, {Name: "scroll", Scroll: true}},
			[]string{"", ""},
			5,
		},
		{
			"shadow trees without an end",
			`<script>onload = () => { let at = document.body; for (let i = 0; i < 250; i++) { const e = document.createElement("div"); at.append(e); at = e.attachShadow({mode: "open"}) } }</script><button class=last onclick="fetch('/last.json')">x</button>`,
			[]chromium.Step{last},
			[]string{"1 requests"},
			5,
		},
		{
			"a selector that takes long",
			`<script>for (let i = 0; i < 4000; i++) document.body.append(document.createElement("i"))</script><button class=last onclick="fetch('/last.json')">x</button>`,
			[]chromium.Step{{Name: "long", Click: []string{"i:has(~ i ~ i ~ i ~ b)"}, Limit: 10 * time.Second}, last},
			[]string{"nothing matches|answer|limit", ""},
			5,
		},
	} {
		page := site + "/attack.html"
		f := &files{content: map[string]string{page: "<!DOCTYPE html><body>" + c.html}}
		began := time.Now()
		job := chromium.Job{
			URI: page, Answer: f.answer, Limit: time.Minute, Grace: time.Minute, MaxRequests: 40, Steps: c.steps,
		}
		r, err := b.Render(t.Context(), job)
		t.Logf("%s: %v after %v, %v", c.name, doneOf(r), time.Since(began).Round(time.Second), err)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, want := range c.want {
			ok := false
			for alternative := range strings.SplitSeq(want, "|") {
				ok = ok || strings.Contains(doneOf(r)[i], alternative)
			}
			if !ok {
				t.Errorf("%s: step %d: %s, want %s", c.name, i+1, doneOf(r)[i], want)
			}
		}
		if len(f.asked) > c.most {
			t.Errorf("%s: %d requests, want at most %d", c.name, len(f.asked), c.most)
		}
		for _, found := range r.Found {
			if strings.Contains(found.URI, "/left") {
				t.Errorf("%s: %s was found", c.name, found.URI)
			}
		}
	}
}

// TestAPageThatHangsAfterAClickCostsItsBound clicks a button after which the page never stops to compute.
// The page is lost after its bounds, and the next one is rendered.
func TestAPageThatHangsAfterAClickCostsItsBound(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{})
	f := &files{content: map[string]string{
		site + "/hang": `<button onclick="setInterval(() => { for (;;); }, 1)">x</button>`,
		site + "/":     `<script>fetch("/a.json")</script>`,
	}}
	began := time.Now()
	_, err := b.Render(t.Context(), chromium.Job{
		URI: site + "/hang", Answer: f.answer, Limit: 10 * time.Second, Grace: 5 * time.Second,
		Steps: []chromium.Step{{Name: "x", Click: []string{"button"}}, {Name: "y", Wait: "p"}, {Name: "z", Scroll: true}},
	})
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %v: %v", took, err)
	}
	r, err := b.Render(t.Context(), chromium.Job{URI: site + "/", Answer: f.answer, Limit: time.Minute})
	if err != nil || !found(t, r)[site+"/a.json"] {
		t.Errorf("the next page: %v, %v", r.Found, err)
	}
}

// TestPicturesShowEachStep takes pictures of a page before and after each step.
func TestPicturesShowEachStep(t *testing.T) {
	slow.Test(t)
	f := &files{content: map[string]string{site + "/": `<!DOCTYPE html><body style="background: red"><button onclick="document.body.style.background = 'blue'">x</button>`}}
	var got []string
	_, err := browser(t, chromium.Options{}).Render(t.Context(), chromium.Job{
		URI: site + "/", Answer: f.answer, Limit: time.Minute,
		Steps: []chromium.Step{{Name: "x", Click: []string{"button"}}, {Name: "y", Scroll: true}},
		Pictured: func(step int, png []byte) {
			got = append(got, fmt.Sprint(step, http.DetectContentType(png), colorAt(t, png)))
		},
	})
	want := []string{"0image/png[255 0 0]", "1image/png[0 0 255]", "2image/png[0 0 255]"}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// colorAt returns the colour at the bottom of a picture.
func colorAt(t *testing.T, picture []byte) []uint32 {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	r, g, b, _ := p.At(p.Bounds().Dx()/2, p.Bounds().Dy()-1).RGBA()
	return []uint32{r >> 8, g >> 8, b >> 8}
}
