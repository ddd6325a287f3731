package crawler_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

var update = flag.Bool("update", false, "rewrite what the stories tell")

// TestStories plays each story of testdata/stories against the scripted town, with the real frontier and the real
// archive, in virtual time. The script is above the line of dashes, the visits of the crawl are below it:
//
//	seed URI                      where the crawl starts
//	page URI key=value …          how a page answers (see town.Page; keys in lower case)
//	at 30h page URI key=value …   how it answers from then on
//	page URI rss=/a@1h,/b         … as a feed of these items, /a dated an hour after the beginning; also sitemap=
//	set TOML                      a line for arcrawl.toml
//	host NAME TOML                a line for the file of a host
//	run 30d                       crawl for that time; then the daemon stops
//	restart                       … and starts again
//	clock 12h                     time passes while it is down
//	at 30h ACT                    an act of [world.do], 30 hours after the beginning, during the next run. The first act
//	                              comes a millisecond late, the second two, and so on: behind the visits of that moment
//	ACT                           the same while the daemon is down
//	show log                      list the annotations of crawl.log at the end
//	show archive FIELD …          list the records, and these fields of requests, responses and metadata records
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories found", err)
	}
	var archives []string
	all := t.TempDir() // read after all stories
	for i, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			if i%6 != 0 && slow.Reduced() {
				t.Skip("only every sixth story runs here; all run without the race detector and -short")
			}
			text, err := os.ReadFile(file)
			must(t, err)
			script, want, _ := strings.Cut(string(text), "----\n")
			dir := filepath.Join(all, strconv.Itoa(i))
			must(t, os.Mkdir(dir, 0o750))
			var got string
			synctest.Test(t, func(t *testing.T) { got = tell(t, dir, script) })
			archives = append(archives, finishedFiles(t, dir)...)
			if *update {
				must(t, os.WriteFile(file, []byte(script+"----\n"+got), 0o600))
				return
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("the story differs (-expected +played):\n%s", diff)
			}
		})
	}
	t.Run("all of it is read by others", func(t *testing.T) {
		for _, r := range foreign.Records(t, archives...) {
			for _, fault := range r.Errors {
				t.Errorf("%s at %d (%s %s): %s", r.File, r.Offset, r.Type, r.Target, fault)
			}
		}
	})
}

func finishedFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Errorf("no WARC files in %s: %v", dir, err)
	}
	return files
}

// tell plays a script and returns one line for each visit.
func tell(t *testing.T, dir, script string) string {
	w, acts := worldOf(t, dir, script)
	for _, words := range acts {
		w.act(words)
	}
	var b strings.Builder
	hosts := make(map[string]bool)
	for _, r := range w.reports {
		hosts[string(r.URI.Host())] = true
	}
	for i, r := range w.reports {
		b.WriteString(w.told[i] + sentence(r, w.began, len(hosts) > 1))
	}
	b.WriteString(w.told[len(w.reports)])
	records := testcrawl.CheckArchive(t, dir)
	w.checkIndex(records)
	w.checkReplay(records)
	archivetest.CheckSeries(t, "test", records)
	for _, words := range acts {
		if words[0] == "show" {
			w.show(&b, records, words[1:])
		}
	}
	return b.String()
}

// checkIndex compares what the index was notified of with the archive: the id and payload digest of each response and
// revisit.
func (w *world) checkIndex(records []archivetest.CheckedRecord) {
	w.t.Helper()
	for _, r := range records {
		if r.Type() != "response" && r.Type() != "revisit" {
			continue
		}
		if got, want := w.indexed[strings.Trim(r.ID(), "<>")], r.Header.Get("WARC-Payload-Digest"); got.String() != want {
			w.t.Errorf("the %s of %s has the digest %s, and the index %s", r.Type(), r.Target(), want, got)
		}
	}
}

// checkReplay compares what the archive replays of each visit with what the town answered to it. It joins the head of a
// revisit and the body of its original, as other readers do.
func (w *world) checkReplay(records []archivetest.CheckedRecord) {
	w.t.Helper()
	sent, stored := map[string][sha256.Size]byte{}, map[string][2]string{}
	for _, a := range w.town.Requests() {
		if a.Status != http.StatusNotModified && !a.Broken {
			sent[a.URI+a.At.UTC().Format(time.RFC3339)] = a.Sum
		}
	}
	for _, r := range records {
		if head, body, ok := strings.Cut(string(r.Block), "\r\n\r\n"); ok && r.Type() == "response" {
			stored[r.ID()] = [2]string{head, body}
		}
	}
	for _, r := range records {
		at, err := time.Parse(time.RFC3339, r.Header.Get("WARC-Date"))
		must(w.t, err)
		original, archived := stored[cmp.Or(r.Header.Get("WARC-Refers-To"), r.ID())]
		head, _, ok := strings.Cut(string(r.Block), "\r\n\r\n")
		if !ok {
			head = original[0]
		}
		joined := archivetest.CheckedRecord{Block: []byte(head + "\r\n\r\n" + original[1])}
		body, err := archivetest.PayloadOf(joined)
		if err != nil {
			body = []byte(original[1])
		}
		got := sha256.Sum256(body)
		want, asked := sent[r.Target()+at.Format(time.RFC3339)]
		if archived && asked && r.Header.Get("WARC-Truncated") == "" && got != want {
			w.t.Errorf("the %s of %s, %s, replays another text than was sent", r.Type(), r.Target(), at)
		}
	}
}

// show writes the annotations of crawl.log, or the records of the archive and some of their fields.
func (w *world) show(b *strings.Builder, records []archivetest.CheckedRecord, words []string) {
	fmt.Fprintf(b, "== %s\n", words[0])
	if words[0] == "log" {
		for _, e := range w.logLines() {
			b.WriteString(strings.TrimSpace(e.URI+" "+strings.Join(e.Annotations, " ")) + "\n")
		}
		return
	}
	series := warcout.SeriesIn("test")
	for _, r := range records {
		line := strings.TrimSpace(series(r.File) + " " + r.Type() + " " + r.Target() + " " + r.Header.Get("WARC-Truncated"))
		if to := r.Header.Get("WARC-Refers-To-Target-URI"); to != "" {
			line += " of " + to
		}
		fields := 0
		for _, name := range words[1:] {
			for _, f := range regexp.MustCompile(`(?m)^`+name+`: .*`).FindAllString(string(r.Block), -1) {
				line += "; " + strings.TrimSpace(f)
				fields++
			}
		}
		if r.Main() || fields > 0 {
			b.WriteString(line + "\n")
		}
	}
}

// worldOf creates the world with the settings of a script. It returns what the script does after that.
func worldOf(t *testing.T, dir, script string) (w *world, acts [][]string) {
	t.Helper()
	var toml, seeds []string
	hostFiles := map[string]string{}
	for line := range strings.Lines(script) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "# ")
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "set":
			toml = append(toml, strings.TrimPrefix(line, "set "))
		case words[0] == "host":
			name := "hosts.d/" + words[1] + ".toml"
			hostFiles[name] += strings.Join(words[2:], " ") + "\n"
		case words[0] == "seed":
			seeds = append(seeds, strconv.Quote(words[1]))
		default:
			acts = append(acts, words)
		}
	}
	toml = append(toml, "[seeds]", "uris = ["+strings.Join(seeds, ", ")+"]")
	w = newWorld(t, dir, strings.Join(toml, "\n")+"\n")
	w.hostFiles(hostFiles)
	return w, acts
}

// act does what a line of a script says while the crawl is down.
func (w *world) act(words []string) {
	w.t.Helper()
	switch words[0] {
	case "page":
		w.set(words[1], page(w.t, 0, words[2:]))
	case "at":
		if words[2] == "page" {
			w.set(words[3], page(w.t, duration(w.t, words[1]), words[4:]))
		} else {
			w.later = append(w.later, words[1:])
		}
	case "run":
		later := w.later
		w.later = nil
		w.during(duration(w.t, words[1]), func(c *crawler.Crawler) {
			for _, words := range later {
				w.acts++
				after := time.Duration(w.acts) * time.Millisecond
				time.Sleep(time.Until(w.began.Add(duration(w.t, words[0]) + after)))
				w.do(c, words[1:])
			}
		})
	case "restart", "show":
	case "clock":
		time.Sleep(duration(w.t, words[1]))
	default:
		w.do(nil, words)
	}
}

// do does what a line of a script says while the crawl runs.
//
//	file NAME TEXT            another text in a file of the folder
//	edit 'old' 'new'          another text in arcrawl.toml
//	reload, plan              load the configuration again, or only say what it would change
//	pause 5h, pause, resume   stop and start the claiming
//	status                    say why the crawl does not run, which proxies are down, and what is wrong with the files
//	disk 10MB                 that much is free on the disk
//	network off, proxy off    no connection can be made, or none through a proxy; until: on
//	traps HOST                list the traps of a host
//	lose, recapture           the sealed WARC files are lost, and their payloads are captured again soon
//	trigger URI               a hub says that a feed has news
//	VERB PREFIX               an operator forces, holds, releases or forgets URIs
func (w *world) do(c *crawler.Crawler, words []string) {
	w.t.Helper()
	now := time.Now()
	switch words[0] {
	case "file":
		w.hostFiles(map[string]string{words[1]: lines(words[2:]) + "\n"})
	case "edit":
		w.edit(quoted(words))
	case "reload", "plan":
		place := w.visited() // a visit that the reload makes due may end before it
		plan, err := c.Reload(words[0] == "plan", now)
		text, _ := json.Marshal(toldPlan(plan))
		if err != nil {
			text = []byte(err.Error())
		}
		w.tellAfter(place, "%s: %s", words[0], text)
	case "pause":
		until := time.Time{}
		if len(words) > 1 {
			until = now.Add(duration(w.t, words[1]))
		}
		c.Pause("", now, until)
	case "resume":
		c.Resume()
	case "status":
		s := c.Status()
		w.tell("held: %q, paused: %q, network down: %t, proxies down: %d, faults: %d", s.Held, s.Paused, s.Uplink,
			len(c.ProxiesDown()), len(c.ConfigStatus().Faults))
	case "disk":
		n, err := human.ParseSize(words[1])
		must(w.t, err)
		w.setFree(n)
	case "network", "proxy":
		w.switchOff(words[0], words[1] == "off")
	case "lose":
		for _, f := range finishedFiles(w.t, w.dir) {
			_, err := w.parts.Dedup.Lose(dedup.Loss{File: filepath.Base(f), Cause: dedup.Declared, Pending: true})
			must(w.t, err)
		}
	case "recapture":
		soon := func(uri.Host) time.Time { return now }
		_, _, err := w.parts.Frontier.Recapture(now, "", w.parts.Dedup.Lost, soon)
		must(w.t, err)
	case "traps":
		list, err := w.parts.Traps.Get(uri.Host(words[1]))
		must(w.t, err)
		for _, trap := range list {
			w.tell("trap %s: %d kept out", trap.Pattern, trap.Kept)
		}
	case "trigger":
		must(w.t, c.Trigger(now, uri.FromCanonical(words[1])))
	default:
		w.steer(w.parts.Frontier, words[1], frontier.Verb(words[0]))
	}
}

// visited returns how many visits have ended.
func (w *world) visited() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.reports)
}

// tell adds a line between the visits of a story.
func (w *world) tell(format string, args ...any) {
	w.t.Helper()
	w.tellAfter(w.visited(), format, args...)
}

// tellAfter adds a line after the first n visits of a story.
func (w *world) tellAfter(n int, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), w.dir+"/", "")
	w.told[n] += moment(time.Since(w.began)) + "  " + text + "\n"
}

// quoted returns the two texts in single quotes of a line.
func quoted(words []string) (before, after string) {
	parts := strings.Split(lines(words), "'")
	return parts[1], parts[3]
}

// lines returns a text of a script, in which \n ends a line.
func lines(words []string) string { return strings.ReplaceAll(strings.Join(words, " "), `\n`, "\n") }

func page(t testing.TB, from time.Duration, words []string) testcrawl.Page {
	t.Helper()
	p := testcrawl.Page{From: from}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		value = strings.NewReplacer("_", " ", `\n`, "\n").Replace(value)
		if key == "hex" {
			body, err := hex.DecodeString(value)
			must(t, err)
			p.Body = string(body)
			continue
		}
		if key == "rss" || key == "sitemap" || key == "head" {
			listed(t, &p, key, value)
			continue
		}
		field := reflect.ValueOf(&p).Elem().FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, key) })
		if !field.IsValid() {
			t.Fatalf("a page has no %q", key)
		}
		switch to := field.Addr().Interface().(type) {
		case *time.Duration:
			*to = duration(t, value)
		case *[]string:
			*to = strings.Split(value, ",")
		case *string:
			*to = value
		case *bool:
			*to = true
		case *int:
			n, err := strconv.Atoi(value)
			must(t, err)
			*to = n
		}
	}
	return p
}

// listed makes a page a feed or a sitemap of items such as "/a@3h~title", whose date is relative to the start of the
// story.
func listed(t testing.TB, p *testcrawl.Page, kind, value string) {
	t.Helper()
	if kind == "head" {
		p.Body = strings.Replace(p.Body, "<channel>", "<channel>"+value, 1)
		return
	}
	item, date, end := "<item><link>%s</link>%s%s</item>\n", "<pubDate>%s</pubDate>", "</channel></rss>"
	p.Type, p.Body = "application/rss+xml", "<rss version=\"2.0\"><channel>\n"
	if kind == "sitemap" {
		item, date, end = "<url><loc>%s</loc>%s%s</url>\n", "<lastmod>%s</lastmod>", "</urlset>"
		p.Type, p.Body = "application/xml", "<urlset>\n"
	}
	for word := range strings.SplitSeq(value, ",") {
		if word == "" {
			continue
		}
		word, title, titled := strings.Cut(word, "~")
		if titled {
			title = "<title>" + title + "</title>"
		}
		path, at, dated := strings.Cut(word, "@")
		if dated {
			age, err := time.ParseDuration(at)
			must(t, err)
			at = fmt.Sprintf(date, testcrawl.Epoch.Add(age).Format(time.RFC3339))
			if kind == "rss" {
				at = fmt.Sprintf(date, testcrawl.Epoch.Add(age).Format(time.RFC1123Z))
			}
		}
		p.Body += fmt.Sprintf(item, path, at, title)
	}
	p.Body += end
}

func duration(t testing.TB, s string) time.Duration {
	t.Helper()
	d, err := human.ParseDuration(s)
	must(t, err)
	return d
}

// sentence describes one visit: day and time since the start of the story, status, meaning, the record kept, and the
// next wait.
func sentence(r crawler.Report, began time.Time, withHost bool) string {
	name := r.URI.RequestTarget()
	if withHost {
		name = r.URI.String()
	}
	told := ""
	if notes := r.Source.Notes(); len(notes) > 0 {
		told = " [" + strings.Join(notes, " ") + "]"
	}
	return fmt.Sprintf("%s  %5d %-20s %-12s wait %-8s %s%s  (%s)\n", moment(r.Finished.Sub(began)), r.Status, meaning(r),
		r.Kept, r.Wait.Interval.Round(time.Second), name, told, r.Wait.Reason)
}

// moment returns the day and the time of a story.
func moment(age time.Duration) string {
	d := age % (24 * time.Hour)
	return fmt.Sprintf("day %2d %02d:%02d:%02d", age/(24*time.Hour), int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}

func meaning(r crawler.Report) string {
	switch {
	case r.Block != "":
		return r.Block
	case r.Failed:
		return "failed"
	case r.Status < 0:
		return "refused"
	case r.Stopped:
		return "aborted"
	case r.Verdict.First:
		return "first"
	case r.Audit:
		return "audit: " + r.Verdict.State.String()
	case r.Verdict.State == evaluators.Unchanged:
		return "same"
	default:
		return r.Verdict.State.String()
	}
}
