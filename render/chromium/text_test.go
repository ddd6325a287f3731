package chromium_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/render/chromium"
)

// TestTheTextIsWhatAReaderSees shows a page whose text is in frames, in shadow trees and in hidden elements.
func TestTheTextIsWhatAReaderSees(t *testing.T) {
	b := browser(t, chromium.Options{})
	page := site + "/text.html"
	f := &files{content: map[string]string{
		site + "/frame.html": `<p>in a frame<p class=ad>advertisement in a frame</p><x-f></x-f><script>
customElements.define("x-f", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "open"}).innerHTML =
	"<iframe srcdoc='<p>in an inner frame<p class=ad>advertisement in an inner frame'></iframe>" } });
</script>`,
		page: `<!DOCTYPE html><title>x</title><body><h1>Some <b>news</b></h1><script>var no = "script"</script>
<x-a></x-a><div id=cl></div><iframe src=/frame.html></iframe><iframe hidden srcdoc="<p>in a hidden frame"></iframe>
<p style="display:none">hidden</p><p style="visibility:hidden">invisible</p><p class=ad>advertisement</p>
<ul><li>one<li>two</ul><x-slot><i>slotted</i></x-slot>
<script>
customElements.define("x-a", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>open<p class=ad>advertisement in a shadow tree" } });
customElements.define("x-slot", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>before <slot></slot>" } });
cl.attachShadow({mode: "closed"}).innerHTML = "<p>closed";
</script>`,
	}}
	r, err := b.Render(t.Context(), chromium.Job{
		URI: page, Answer: f.answer, Limit: time.Minute, Without: []string{".ad", "::faulty("},
	})
	if err != nil {
		t.Fatal(err)
	}
	const all = "Some news\nopen\nadvertisement in a shadow tree\nclosed\nin a frame\nadvertisement in a frame\n" +
		"in an inner frame\nadvertisement in an inner frame\nadvertisement\none\ntwo\nbefore slotted"
	if r.Text != all {
		t.Errorf("the text is\n%s\nwant\n%s", r.Text, all)
	}
	if want := "Some news\nopen\nclosed\nin a frame\nin an inner frame\none\ntwo\nbefore slotted"; r.Compared != want {
		t.Errorf("the compared text is\n%s\nwant\n%s", r.Compared, want)
	}
}
