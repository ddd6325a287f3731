package chromium_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// doneOf returns a line for each step.
func doneOf(r chromium.Result) (lines []string) {
	for _, d := range r.Steps {
		lines = append(lines, fmt.Sprintf("%s: %d times, %d requests, %s", d.Step, d.Times, d.Requests, d.Ended))
	}
	return lines
}

// TestStepsDoWhatTheySay does each kind of step on a page.
func TestStepsDoWhatTheySay(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{})
	click := func(selectors ...string) chromium.Step {
		return chromium.Step{Name: "click", Click: selectors, Times: 5}
	}
	for _, c := range []struct {
		name, html string
		steps      []chromium.Step
		want       []string // what came of the steps
		asked      []string // paths that are requested
		text       string   // that the page shows
	}{
		{
			name:  "a button that loads more until it is gone",
			html:  `<button onclick="fetch('/n' + ++n + '.json'); if (n == 3) this.remove()">More</button><script>let n = 0</script>`,
			steps: []chromium.Step{click("button")},
			want:  []string{"click: 3 times, 3 requests, nothing matches any more"},
			asked: []string{"/n1.json", "/n2.json", "/n3.json"},
		},
		{
			name:  "a button that loads nothing new",
			html:  `<button onclick="fetch('/n' + Math.min(++n, 2) + '.json')">More</button><script>let n = 0</script>`,
			steps: []chromium.Step{click("button")},
			want:  []string{"click: 3 times, 2 requests, nothing new was requested"},
			asked: []string{"/n1.json", "/n2.json"},
		},
		{
			name:  "one click is enough unless the step says more",
			html:  `<button onclick="fetch('/n' + ++n + '.json')">More</button><script>let n = 0</script>`,
			steps: []chromium.Step{{Name: "click", Click: []string{"button"}}},
			want:  []string{"click: 1 times, 1 requests, it was done as often as it may"},
			asked: []string{"/n1.json"},
		},
		{
			name:  "several buttons, and one that cannot be clicked",
			html:  `<button disabled onclick="fetch('/0.json')">0</button><button style="display:none" onclick="fetch('/1.json')">1</button><button onclick="fetch('/2.json')">2</button><button onclick="fetch('/3.json')">3</button>`,
			steps: []chromium.Step{click("button")},
			want:  []string{"click: 3 times, 2 requests, nothing new was requested"},
			asked: []string{"/2.json", "/3.json"},
		},
		{
			name:  "a button that comes late",
			html:  `<body><script>setTimeout(() => { document.body.innerHTML = "<button onclick=\"fetch('/late.json')\">x</button>" }, 1500)</script>`,
			steps: []chromium.Step{click("button")},
			want:  []string{"click: 2 times, 1 requests, nothing new was requested"},
			asked: []string{"/late.json"},
		},
		{
			name:  "a button in a shadow tree and one in a frame",
			html:  `<div id=host></div><iframe srcdoc="<button class=f onclick=&quot;fetch('/frame.json')&quot;>f</button>"></iframe><script>host.attachShadow({mode: "open"}).innerHTML = "<button class=s onclick=\"fetch('/shadow.json')\">s</button>"</script>`,
			steps: []chromium.Step{click(".s"), click(".f")},
			want:  []string{"click: 2 times, 1 requests, nothing new was requested", "click: 2 times, 1 requests, nothing new was requested"},
			asked: []string{"/frame.json", "/shadow.json"},
		},
		{
			name: "the preferred of two selectors, and the text of a button",
			html: `<button class=b onclick="fetch('/b.json')">B</button><button class=a onclick="fetch('/a.json')">A</button><a href="#" onclick="fetch('/c.json')"> Load
				 MORE (12)</a><button onclick="fetch('/d.json')">Load moreover</button>`,
			steps: []chromium.Step{{Name: "click", Click: []string{".a", ".b"}}, {Name: "words", Texts: []string{"load more"}}},
			want:  []string{"click: 1 times, 1 requests, it was done as often as it may", "words: 1 times, 1 requests, it was done as often as it may"},
			asked: []string{"/a.json", "/c.json"},
		},
		{
			name:  "a link is not followed, but its script runs",
			html:  `<a class=x href="/elsewhere.html">x</a><a class=y href="/y.html" onclick="fetch('/y.json'); return false">y</a><a class=z href="javascript:void fetch('/z.json')">z</a>`,
			steps: []chromium.Step{click(".x"), {Name: "y", Click: []string{".y"}}, {Name: "z", Click: []string{".z"}}},
			want:  []string{"click: 1 times, 0 requests, it leads to another page, which is prevented", "y: 1 times, 1 requests, it was done as often as it may", "z: 1 times, 1 requests, it was done as often as it may"},
			asked: []string{"/y.json", "/z.json"},
		},
		{
			name:  "no form is submitted, and no window opened",
			html:  `<form action="/search.html"><input name=q value=1><button class=get>x</button></form><form method=post action="/post.html"><button class=post>x</button></form><form action="/blank.html" target=_blank><button class=blank>x</button></form><form action="/f.html" target=f onsubmit="event.stopPropagation()"><button class=frame>x</button></form><iframe name=f></iframe><button class=open onclick="window.open('/window.html'); window.open('/two.html', 'x')">x</button>`,
			steps: []chromium.Step{click(".get"), click(".post"), click(".blank"), click(".frame"), click(".open")},
			want: []string{
				"click: 1 times, 0 requests, it submits a form, which is prevented", "click: 1 times, 0 requests, it submits a form, which is prevented",
				"click: 1 times, 0 requests, it submits a form, which is prevented", "click: 1 times, 0 requests, it submits a form, which is prevented",
				"click: 1 times, 0 requests, nothing new was requested",
			},
		},
		{
			name:  "a form whose script hides that it is submitted is not submitted either",
			html:  `<form action="/search.html" onsubmit="event.stopPropagation()"><input name=q value=1><button>x</button></form>`,
			steps: []chromium.Step{click("button")},
			want:  []string{"click: 1 times, 0 requests, it leads to another page, which is prevented"},
		},
		{
			name:  "what a click has jumped over is scrolled to",
			html:  `<div style="height: 3000px"></div><i id=i>x</i><div style="height: 3000px"></div><button class=x>x</button><script>new IntersectionObserver(s => { if (s[0].isIntersecting) fetch("/mid.json") }).observe(i)</script>`,
			steps: []chromium.Step{{Name: "click", Click: []string{".x"}}},
			want:  []string{"click: 1 times, 0 requests, nothing new was requested"},
			asked: []string{"/mid.json"},
		},
		{
			name:  "dialogs do not block",
			html:  `<button onclick="alert(1); confirm(2); prompt(3); fetch('/after.json')">x</button>`,
			steps: []chromium.Step{{Name: "click", Click: []string{"button"}}},
			want:  []string{"click: 1 times, 1 requests, it was done as often as it may"},
			asked: []string{"/after.json"},
		},
		{
			name:  "a value is stored before the scripts of the page run",
			html:  `<body><script>document.body.append(localStorage.consent + " " + localStorage.other)</script>`,
			steps: []chromium.Step{{Name: "store", Store: map[string]string{"consent": `{"a": "</script>'"}`, "other": "2"}}},
			want:  []string{"store: 0 times, 0 requests, it is stored"},
			text:  `{"a": "</script>'"} 2`,
		},
		{
			name:  "a value that the page removes",
			html:  `<script>localStorage.clear()</script>`,
			steps: []chromium.Step{{Name: "store", Store: map[string]string{"consent": "yes"}}},
			want:  []string{"store: 0 times, 0 requests, the page has not kept it"},
		},
		{
			name:  "waiting for an element, and for one that does not come",
			html:  `<body><script>setTimeout(() => { document.body.innerHTML = "<article class=loaded>Here</article>" }, 1500)</script>`,
			steps: []chromium.Step{{Name: "wait", Wait: "article.loaded"}, {Name: "never", Wait: "article.never", Limit: time.Second}},
			want:  []string{"wait: 0 times, 0 requests, it is there", "never: 0 times, 0 requests, the limit of the step"},
		},
		{
			name:  "an invalid selector",
			html:  `<button>x</button>`,
			steps: []chromium.Step{click("button:nonsense("), {Name: "wait", Wait: "]"}},
			want:  []string{"click: 0 times, 0 requests, the browser does not accept the selector", "wait: 0 times, 0 requests, the browser does not accept the selector"},
		},
		{
			name:  "what no archive can answer",
			html:  `<button onclick="fetch('/more', {method: 'POST', body: 'x'}).catch(() => {})">x</button>`,
			steps: []chromium.Step{click("button")},
			want:  []string{"click: 1 times, 0 requests, what it requests cannot be answered from an archive"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := site + "/steps.html"
			f := &files{content: map[string]string{page: "<!DOCTYPE html><body>" + c.html}}
			r, err := b.Render(t.Context(), chromium.Job{
				URI: page, Answer: f.answer, Limit: time.Minute, MaxRequests: 100, Steps: c.steps,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := doneOf(r); !slices.Equal(got, c.want) {
				t.Errorf("the steps: %q, want %q", got, c.want)
			}
			var asked []string
			for _, uri := range f.asked {
				if path := strings.TrimPrefix(uri, site); path != "/steps.html" && path != "/favicon.ico" {
					asked = append(asked, path)
				}
			}
			for _, found := range r.Found {
				if path := strings.TrimPrefix(found.URI, site); path != "/favicon.ico" && !slices.Contains(asked, path) {
					t.Errorf("%s was found and not requested", path)
				}
			}
			slices.Sort(asked)
			if !slices.Equal(slices.Compact(asked), c.asked) {
				t.Errorf("requested: %q, want %q", asked, c.asked)
			}
			if !strings.Contains(r.Text, c.text) || strings.TrimSuffix(r.URI, "#") != page {
				t.Errorf("%s shows %q, want %q", r.URI, r.Text, c.text)
			}
		})
	}
}

// TestScrollingWaitsForPictures scrolls a page whose pictures are slow, and which grows with each one that is complete.
func TestScrollingWaitsForPictures(t *testing.T) {
	slow.Test(t)
	page := site + "/slow.html"
	f := &files{content: map[string]string{page: `<!DOCTYPE html><body><script>
		let n = 0;
		const add = () => {
			const i = new Image();
			i.style = "display: block; width: 500px; height: 3000px";
			i.src = "/" + ++n + ".png";
			i.onerror = () => new IntersectionObserver((seen, o) => { if (seen.some(s => s.isIntersecting) && n < 5) { o.disconnect(); setTimeout(add, 50) } }).observe(i);
			document.body.append(i);
		};
		add();
		setInterval(() => {}, 100)</script>`}}
	answer := func(ctx context.Context, q chromium.Request) chromium.Answer {
		if strings.HasSuffix(q.URI, ".png") {
			time.Sleep(time.Second)
		}
		return f.answer(ctx, q)
	}
	r, err := browser(t, chromium.Options{}).Render(t.Context(), chromium.Job{
		URI: page, Answer: answer, Limit: time.Minute, Steps: []chromium.Step{{Name: "scroll", Scroll: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for _, found := range r.Found {
		if strings.HasSuffix(found.URI, ".png") {
			pictures++
		}
	}
	if pictures != 5 || len(r.Steps) != 1 || r.Steps[0].Ended != "the end of the page" || r.Steps[0].Times < 5 {
		t.Errorf("found %v by %v", r.Found, doneOf(r))
	}
}

// liveblog is a page whose entries are loaded by a button, newest first. It has a list of them in one of three ways.
type liveblog struct {
	entries int
	paged   string // how the button asks for the older ones: by "cursor", by "page", or by the "block" of a fixed size
	wrapped bool   // each answer gets an element of its own in the list
	asked   []string
	archive map[string]string
}

const perPage = 10

func (l *liveblog) text(i int) string {
	return fmt.Sprintf("Entry %d says what happened in minute %d of the match.", i, i*3)
}

// list returns the numbers of the entries of a request, and the query of the next one.
func (l *liveblog) list(query url.Values) (ids []int, next string) {
	from := l.entries
	number := func(key string) int { n, _ := strconv.Atoi(query.Get(key)); return n }
	switch {
	case query.Has("before"):
		from = number("before") - 1
	case query.Has("page"):
		from -= number("page") * perPage
	case query.Has("block"):
		from = number("block") * perPage
	}
	last := max(from-perPage, 0)
	if l.paged == "block" && !query.Has("block") {
		last = max((from-1)/perPage*perPage, 0)
	}
	for i := from; i > last; i-- {
		ids = append(ids, i)
	}
	switch {
	case last == 0:
	case l.paged == "cursor":
		next = "before=" + strconv.Itoa(last+1)
	case l.paged == "page":
		next = "page=" + strconv.Itoa(number("page")+1)
	default:
		next = "block=" + strconv.Itoa(last/perPage)
	}
	return ids, next
}

func (l *liveblog) answer(_ context.Context, q chromium.Request) chromium.Answer {
	u, _ := url.Parse(q.URI)
	if q.Main {
		return chromium.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}}, Body: []byte(`<!DOCTYPE html>
			<nav>Sections of this newspaper</nav><main id=live><div><p>Advertisement of each page</p></div><ol></ol></main>
			<button class=more>Load more</button><footer>Contact of this newspaper, and more that never changes</footer><script>
			const more = document.querySelector(".more");
			const load = async query => {
				more.disabled = true;
				const got = await (await fetch("/live.json" + query)).json();
				let to = document.querySelector("ol");
				if (` + strconv.FormatBool(l.wrapped) + `) { const d = document.createElement("div"); to.append(d); to = d }
				for (const e of got.entries) {
					const li = document.createElement("li");
					li.className = "entry";
					li.innerHTML = "<time>" + Math.random() + " minutes ago</time><p>" + e + "</p>";
					to.append(li);
				}
				more.onclick = () => load("?" + got.next);
				more.disabled = false;
				if (!got.next) more.remove();
			};
			load("")</script>`)}
	}
	if q.Stored {
		body, ok := l.archive[u.RawQuery]
		if !ok {
			return chromium.Answer{}
		}
		return chromium.Answer{Status: 200, Body: []byte(body)}
	}
	if u.Path != "/live.json" {
		return chromium.Answer{Status: 404}
	}
	l.asked = append(l.asked, u.RawQuery)
	ids, next := l.list(u.Query())
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = l.text(id)
	}
	body, _ := json.Marshal(map[string]any{"entries": texts, "next": next})
	l.archive[u.RawQuery] = string(body)
	return chromium.Answer{Status: 200, Body: body}
}

// TestALiveblogIsCapturedWhole renders liveblogs that grow, three times each. The first rendering captures all entries.
// The later ones ask only for entries that no rendering had, whatever the addresses of the older ones are.
func TestALiveblogIsCapturedWhole(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{})
	for _, c := range []struct {
		paged   string
		wrapped bool
		many    []string // asked for after 23 more entries, besides the first ones
		whole   bool     // the later renderings show all entries
	}{
		{"cursor", false, []string{"before=52", "before=42"}, false},
		{"cursor", true, []string{"before=52", "before=42"}, false},
		{"page", false, []string{"page=1", "page=2"}, false},
		{"block", false, []string{"block=6", "block=5", "block=4"}, true},
	} {
		t.Run(fmt.Sprintf("%s, wrapped %v", c.paged, c.wrapped), func(t *testing.T) {
			l := &liveblog{entries: 35, paged: c.paged, wrapped: c.wrapped, archive: map[string]string{}}
			known := map[string]chromium.Entries{}
			render := func() (asked []string, text string) {
				l.asked = nil
				r, err := b.Render(t.Context(), chromium.Job{
					URI: site + "/live.html", Answer: l.answer, Limit: time.Minute, Known: known,
					Steps: []chromium.Step{{Name: "more", Click: []string{"button.more"}, Times: 20}},
				})
				if err != nil {
					t.Fatal(err)
				}
				d := r.Steps[0]
				t.Log(doneOf(r), d.Entries.List, len(d.Entries.Sums), l.asked)
				if len(d.Entries.Sums) == 0 {
					t.Fatalf("the step did not reach its end: %v", doneOf(r))
				}
				known["more"] = d.Entries.Before(known["more"], 2000)
				return l.asked[1:], r.Text
			}
			has := func(text string, from, to int) {
				t.Helper()
				for i := from; i <= to; i++ {
					if !strings.Contains(text, l.text(i)) {
						t.Errorf("entry %d is missing", i)
					}
				}
			}
			asked, text := render()
			has(text, 1, 35)
			if len(asked) != 3 {
				t.Errorf("the first rendering asked for %q", asked)
			}
			for _, later := range []struct {
				more int
				want []string
			}{{3, nil}, {23, c.many}} {
				before := l.entries
				l.entries += later.more
				asked, text = render()
				first := before + 1
				if c.whole {
					first = 1
				}
				has(text, first, l.entries)
				if !slices.Equal(asked, later.want) {
					t.Errorf("after %d more entries it asked for %q, want %q", later.more, asked, later.want)
				}
			}
		})
	}
}
