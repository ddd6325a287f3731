package curator

import (
	"fmt"
	"net/http/httptest"
	"os"
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
	w := newWorld(t, hostFiles(t, map[string]string{
		"news": "labels = [\"papers\"] # daily\n[seeds]\nuris = [\"http://news.example/\"]\n", "a": "labels = [\"papers\"]\n", "b": "title = \"<b>Radio\"\n",
		"c": "labels = [\"papers\"]\ncollections = [ # why\n \"x\" ]\n",
	}), withoutSeeds)
	defer w.Close()
	site := httptest.NewServer(w.window.Handler(access.Options{}))
	t.Cleanup(site.Close)
	p := browser.Open(t, 1280, 1000)
	look := func(name string) {
		t.Helper()
		if faults := p.Axe(axe, "{}"); len(faults) > 0 || p.Eval(browser.Outside) != "[]" {
			t.Errorf("axe-core finds in %s: %v; outside are %s", name, faults, p.Eval(browser.Outside))
		}
		browser.Keep(t, name, p.Screenshot())
	}
	typed := func(name, event, text string) {
		t.Helper()
		field := `document.querySelector("[name='` + name + `']")`
		p.Wait(field + ` !== null`)
		p.Eval(fmt.Sprintf(`{ const e = %s; e.value = %q; e.dispatchEvent(new Event(%q, {bubbles: true})) }`, field, text, event))
	}
	onDisk := func(name string) string { text, _ := os.ReadFile(w.hostFile(name)); return string(text) }

	p.Go(site.URL + "/#/many")
	p.Says("No file is chosen.")
	p.Go(site.URL + "/#/edit")
	p.Says("4 host files")
	typed("label", "change", "papers")
	p.Says("3 host files of 4")
	p.Click("Choose all 3")
	look("light-many-choose")
	p.Click("Change settings of 3 files …")
	p.Says("Change 3 host files")
	typed("key-0", "change", "collections")
	typed("value-0", "input", "elections")
	p.Click("Another setting")
	typed("key-1", "change", "politeness.min_delay")
	typed("value-1", "input", "soon")
	p.Click("Check")
	p.Says("Nothing can be saved before they are gone.")
	look("light-many-faults")
	typed("value-1", "input", "9s")
	p.Click("Check")
	p.Says("What would change in 2 files")
	p.Says("c.example.toml stays unchanged")
	look("light-many-plan")
	p.Dark()
	p.Resize(390, 800)
	look("dark-many-plan")
	if got := onDisk("a"); got != "labels = [\"papers\"]\n" {
		t.Errorf("the check wrote %q", got)
	}
	p.Click("Save 2 files")
	p.Says("Saved 2 host files.")
	look("dark-many-saved")
	if got := onDisk("news"); !strings.Contains(got, "# daily") || !strings.Contains(got, "collections = ['elections']") || !strings.Contains(got, `min_delay = "9s"`) {
		t.Errorf("the file became\n%s", got)
	}
	if got := onDisk("b"); got != "title = \"<b>Radio\"\n" {
		t.Errorf("a file that was not chosen became\n%s", got)
	}
	p.Click("Undo")
	p.Says("Restore the host files as they were before this change?")
	look("dark-many-undo")
	p.Click("Undo")
	p.Says("Undone: collections, politeness.min_delay of 2 host files changed in the dashboard")
	if got := onDisk("a"); got != "labels = [\"papers\"]\n" {
		t.Errorf("the undo left %q", got)
	}
}
