package crawler_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
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
//	edit 'old' 'new'              another text in arcrawl.toml, while it is down
//	clock 12h                     time passes while it is down
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
			checkArchive(t, dir)
			archives = append(archives, finishedFiles(t, dir)...)
			if *update {
				must(t, os.WriteFile(file, []byte(script+"----\n"+got), 0o600))
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
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

func finishedFiles(t *testing.T, dir string) []string {
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
	began := time.Now()
	for _, words := range acts {
		act(t, w, words)
	}
	var b strings.Builder
	hosts := make(map[string]bool)
	for _, r := range w.reports {
		hosts[string(r.URI.Host())] = true
	}
	for _, r := range w.reports {
		b.WriteString(sentence(r, began, len(hosts) > 1))
	}
	return b.String()
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

func act(t *testing.T, w *world, words []string) {
	t.Helper()
	switch words[0] {
	case "page":
		w.set(words[1], page(t, 0, words[2:]))
	case "at":
		w.set(words[3], page(t, duration(t, words[1]), words[4:]))
	case "run":
		w.run(duration(t, words[1]))
	case "restart":
	case "edit":
		w.edit(quoted(words))
	case "clock":
		time.Sleep(duration(t, words[1]))
	default:
		t.Fatalf("the script has the unknown word %q", words[0])
	}
}

// quoted returns the two texts in single quotes of a line.
func quoted(words []string) (before, after string) {
	parts := strings.Split(strings.Join(words, " "), "'")
	return parts[1], parts[3]
}

func page(t *testing.T, from time.Duration, words []string) town.Page {
	t.Helper()
	p := town.Page{From: from}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		value = strings.NewReplacer("_", " ", `\n`, "\n").Replace(value)
		switch key {
		case "every":
			p.Every = duration(t, value)
		case "status":
			p.Status, _ = strconv.Atoi(value)
		case "type":
			p.Type = value
		case "body":
			p.Body = value
		case "size":
			p.Size, _ = strconv.Atoi(value)
		case "links":
			p.Links = strings.Split(value, ",")
		case "clock":
			p.Clock = true
		case "minutes":
			p.Minutes = true
		case "needs":
			p.Needs = value
		case "token":
			p.Token = true
		case "lists":
			p.Lists, _ = strconv.Atoi(value)
		case "rss", "sitemap", "head":
			listed(t, &p, key, value)
		case "location":
			p.Location = value
		case "etag":
			p.ETag = value
		case "modified":
			p.Modified = value
		case "ignore":
			p.Ignore = true
		case "deny":
			p.Deny = true
		case "retry":
			p.Retry = value
		case "down":
			p.Down = true
		case "cut":
			p.Cut = true
		default:
			t.Fatalf("a page has no %q", key)
		}
	}
	return p
}

// listed makes a page a feed or a sitemap of items such as "/a@3h~title", whose date is relative to the start of the
// story.
func listed(t *testing.T, p *town.Page, kind, value string) {
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
			at = fmt.Sprintf(date, town.Epoch.Add(age).Format(time.RFC3339))
			if kind == "rss" {
				at = fmt.Sprintf(date, town.Epoch.Add(age).Format(time.RFC1123Z))
			}
		}
		p.Body += fmt.Sprintf(item, path, at, title)
	}
	p.Body += end
}

func duration(t *testing.T, s string) time.Duration {
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
	age := r.Finished.Sub(began)
	day := age / (24 * time.Hour)
	told := ""
	if notes := r.Source.Notes(); len(notes) > 0 {
		told = " [" + strings.Join(notes, " ") + "]"
	}
	return fmt.Sprintf("day %2d %s  %5d %-20s %-12s wait %-8s %s%s  (%s)\n", int(day), clock(age-day*24*time.Hour), r.Status, meaning(r),
		r.Kept, r.Wait.Interval.Round(time.Second), name, told, r.Wait.Reason)
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
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
