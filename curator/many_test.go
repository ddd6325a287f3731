package curator

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestSeveralHostFilesAreChangedInTheBrowser chooses the files of a label, adds a collection to them, meets a faulty
// value and a file that stays unchanged, saves and undoes it. axe-core looks at each step, on a phone in the dark too.
func TestSeveralHostFilesAreChangedInTheBrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, "hosts.d", name+".example.toml") }
	if err := os.Mkdir(filepath.Dir(file("a")), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"news": "labels = [\"papers\"] # daily\n[seeds]\nuris = [\"http://news.example/\"]\n", "a": "labels = [\"papers\"]\n", "b": "title = \"<b>Radio\"\n",
		"c": "labels = [\"papers\"]\ncollections = [ # why\n \"x\" ]\n",
	} {
		if err := os.WriteFile(file(name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, dir, strings.Split(everyHour, "[seeds]")[0])
	defer w.Close()
	site := httptest.NewServer(w.window.Handler(access.Options{}))
	t.Cleanup(site.Close)
	p := browser.Open(t, 1280, 1000)
	look := func(name string) {
		t.Helper()
		p.Eval(axe + "; 0")
		var faults []string
		got := p.Eval(`axe.run(document).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ").slice(0, 400)))`)
		if err := json.Unmarshal([]byte(got), &faults); err != nil || len(faults) > 0 || p.Eval(outside) != "[]" {
			t.Errorf("axe-core finds in %s: %v, %v; outside are %s", name, faults, err, p.Eval(outside))
		}
		browser.Keep(t, name, p.Screenshot())
	}
	click := func(text string) {
		t.Helper()
		const all = `[...document.querySelectorAll("main button, main a.button")]`
		p.Wait(all + `.some(b => b.textContent === ` + quoted(text) + `)`)
		p.Eval(all + `.find(b => b.textContent === ` + quoted(text) + `).click()`)
	}
	typed := func(name, event, text string) {
		t.Helper()
		field := `document.querySelector("[name='` + name + `']")`
		p.Wait(field + ` !== null`)
		p.Eval(`{ const e = ` + field + `; e.value = ` + quoted(text) + `; e.dispatchEvent(new Event("` + event + `", {bubbles: true})) }`)
	}
	says := func(text string) { t.Helper(); p.Wait(`document.body.innerText.includes(` + quoted(text) + `)`) }
	onDisk := func(name string) string { text, _ := os.ReadFile(file(name)); return string(text) }

	p.Go(site.URL + "/#/many")
	says("No file is chosen.")
	p.Go(site.URL + "/#/edit")
	says("4 host files")
	typed("label", "change", "papers")
	says("3 host files of 4")
	click("Choose all 3")
	look("light-many-choose")
	click("Change settings of 3 files …")
	says("Change 3 host files")
	typed("key-0", "change", "collections")
	typed("value-0", "input", "elections")
	click("Another setting")
	typed("key-1", "change", "politeness.min_delay")
	typed("value-1", "input", "soon")
	click("Check")
	says("Nothing can be saved before they are gone.")
	look("light-many-faults")
	typed("value-1", "input", "9s")
	click("Check")
	says("What would change in 2 files")
	says("c.example.toml stays unchanged")
	look("light-many-plan")
	p.Dark()
	p.Resize(390, 800)
	look("dark-many-plan")
	if got := onDisk("a"); got != "labels = [\"papers\"]\n" {
		t.Errorf("the check wrote %q", got)
	}
	click("Save 2 files")
	says("Saved 2 host files.")
	look("dark-many-saved")
	if got := onDisk("news"); !strings.Contains(got, "# daily") || !strings.Contains(got, "collections = ['elections']") || !strings.Contains(got, `min_delay = "9s"`) {
		t.Errorf("the file became\n%s", got)
	}
	if got := onDisk("b"); got != "title = \"<b>Radio\"\n" {
		t.Errorf("a file that was not chosen became\n%s", got)
	}
	p.Eval(`window.confirm = () => true`)
	click("Undo")
	says("Undone: collections, politeness.min_delay of 2 host files changed in the dashboard")
	if got := onDisk("a"); got != "labels = [\"papers\"]\n" {
		t.Errorf("the undo left %q", got)
	}
}
