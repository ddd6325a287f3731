package heritrix_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/lab/heritrix"
)

// convert converts a job in testdata and loads the result.
func convert(t *testing.T, name, seeds string) (*heritrix.Result, *config.Config) {
	t.Helper()
	job, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	r, err := heritrix.Convert(heritrix.Job{Beans: job, Seeds: seeds, MaxDelay: 30 * time.Second})
	must(t, err)
	return r, load(t, r)
}

// load loads a converted configuration, which must be valid.
func load(t *testing.T, r *heritrix.Result) *config.Config {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "hosts.d"), 0o755))
	files := map[string][]byte{"arcrawl.toml": r.Main}
	for host, text := range r.Hosts {
		files[filepath.Join("hosts.d", host+".toml")] = text
	}
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	c, err := config.Load(filepath.Join(dir, "arcrawl.toml"))
	if err != nil {
		t.Fatalf("the converted job is not a valid configuration: %v\n%s", err, r.Main)
	}
	return c
}

// notesOf returns the notes of a result as lines.
func notesOf(r *heritrix.Result) (lines []string) {
	for _, n := range r.Notes {
		lines = append(lines, n.String())
	}
	return lines
}

func TestConvertHeritrixJob(t *testing.T) {
	t.Parallel()
	r, c := convert(t, "job.cxml", "")
	want := `[operator]
name = "National Library"
contact = "https://library.example/crawler"

[politeness]
delay_factor = 2.0
min_delay = "3s"

[fetch]
body_timeout = "10m"
header_timeout = "1500ms"

[scope]
max_hops = 5
max_embed_hops = 3
rules = [
    'accept ^https?://(?:[^/?#]*[.])?tv[.]example(?::\d+)?(?:[/?#]|$)',
    'reject ^(?:.*/calendar/.*)$',
]
`
	got := slices.Sorted(slices.Values(strings.Split(string(r.Main), "\n")))
	if diff := cmp.Diff(slices.Sorted(slices.Values(strings.Split(want, "\n"))), got); diff != "" {
		t.Errorf("main file (-want +got):\n%s", diff)
	}
	var seeds []string
	for _, s := range c.Seeds {
		seeds = append(seeds, s.URI.String())
	}
	slices.Sort(seeds)
	if want := []string{"http://tv.example/", "https://www.paper.example/", "https://www.paper.example/sport"}; !slices.Equal(seeds, want) {
		t.Errorf("seeds %v, want %v", seeds, want)
	}
	if want := "[politeness]\nmin_delay = \"1m\"\nmax_delay = \"1m\"\n"; string(r.Hosts["radio.example"]) != want {
		t.Errorf("the sheet for a domain became %q, want %q", r.Hosts["radio.example"], want)
	}
}

func TestConvertNotesEverythingElseWithItsLine(t *testing.T) {
	t.Parallel()
	r, _ := convert(t, "job.cxml", "")
	want := []string{
		"line 22: ftp://old.example/ is not a seed: want http:// or https:// and a host",
		"line 30: metadata.userAgentTemplate = Mozilla/5.0 (@OPERATOR_CONTACT_URL@) has no counterpart",
		"line 46: RE2 does not support the expression .*(/[^/]+)\\1\\1.*: error parsing regexp: invalid escape sequence: `\\1`",
		"line 55: fetchHttp.maxLengthBytes: no limit; the default applies",
		`line 61: disposition.maxDelayMs: "much" is not a number`,
		"line 67: crawlController.maxToeThreads = 3: crawl.workers can only be set for the whole crawl",
		"line 79: the prefix http://(example,tv,)/live/ is neither a host nor a domain; use a [[when]] with a uri in the host file instead",
		"line 72: the sheet nobodys applies to no host",
	}
	if diff := cmp.Diff(want, notesOf(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConvertCrawlRSSSites(t *testing.T) {
	t.Parallel()
	r, c := convert(t, "rss.cxml", "")
	want := `[feeds]
uris = [
    "https://www.paper.example/rss/news",
    "https://www.paper.example/rss/sport",
]
min_wait = "1h30m"
implied_by = [
    { feed = "https://www.paper.example/rss/news", pages = ["https://www.paper.example/"] },
    { feed = "https://www.paper.example/rss/sport", pages = ["https://www.paper.example/", "https://www.paper.example/sport"] },
]
`
	if diff := cmp.Diff(want, string(r.Hosts["www.paper.example"])); diff != "" {
		t.Errorf("the host's file (-want +got):\n%s", diff)
	}
	if len(c.Sources) != 2 {
		t.Errorf("%d feeds are followed, want 2", len(c.Sources))
	}
	if len(r.Notes) != 1 || r.Notes[0].String() != "line 18: sport is not a page: want http:// or https:// and a host" {
		t.Errorf("not converted: %v", r.Notes)
	}
}

func TestConvertSeparateSeeds(t *testing.T) {
	t.Parallel()
	r, err := heritrix.Convert(heritrix.Job{Beans: []byte("<beans/>"), Seeds: "# mine\n\nhttp://a.example/\nb.example\nhttp://a.example:8080/x\n"})
	must(t, err)
	got := make(map[string]string)
	for host, text := range r.Hosts {
		got[host] = string(text)
	}
	want := map[string]string{
		"a.example":      "[seeds]\nuris = [\"http://a.example/\"]\n",
		"b.example":      "[seeds]\nuris = [\"http://b.example\"]\n",
		"a.example:8080": "[seeds]\nuris = [\"http://a.example:8080/x\"]\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConvertRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ job, want string }{
		"an order.xml of Heritrix 1": {"<crawl-order><meta/></crawl-order>", "no <beans> element found"},
		"broken XML":                 {"<beans>\n<bean>\n</beans>", "line 3"},
		"nested without end":         {"<beans>" + strings.Repeat("<list>", 1000), "nested more than 64 deep"},
		"empty":                      {"", "no <beans> element found"},
	} {
		_, err := heritrix.Convert(heritrix.Job{Beans: []byte(c.job)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	job, err := os.ReadFile("testdata/job.cxml")
	must(f, err)
	f.Add(job, "http://a.example/")
	for _, s := range shapes {
		f.Add([]byte("<beans>"+s.beans+"</beans>"), "+http://a.example/")
	}
	f.Fuzz(func(t *testing.T, job []byte, seeds string) {
		itself := func(string) ([]byte, error) { return job, nil }
		r, err := heritrix.Convert(heritrix.Job{Beans: job, Seeds: seeds, MaxDelay: 30 * time.Second, Read: itself})
		if (r == nil) == (err == nil) {
			t.Fatalf("result %v and error %v", r, err)
		}
	})
}

// A job with a setting of each kind that needs more than its value: an expression with a default, a tag of several
// lines, another file.
func TestConvertDefaultsLinesAndFiles(t *testing.T) {
	t.Parallel()
	job := `<beans>
<bean id="diskSpaceMonitor" class="x.DiskSpaceMonitor">
 <property name="pauseThresholdMiB"
   value="8192" />
</bean>
<bean id="loggerModule" class="x.CrawlerLoggerModule"><property name="logExtraInfo" value="true" /></bean>
<bean id="outbackCDXClient" class="x.OutbackCDXClient">
 <property name="endpoint" value="#{ systemEnvironment['CDX'] ?: 'http://localhost:8080/fc' }" />
</bean>
<bean id="crawlController" class="x.CrawlController"><property name="maxToeThreads" value="${threads:250}" /></bean>
<bean id="bdb" class="x.BdbModule">
 <property
   name="cachePercent" value="60" />
</bean>
<bean id="odd" class="x.Odd"><property name="thing" value="1" /></bean>
</beans>`
	r, err := heritrix.Convert(heritrix.Job{Beans: []byte(job), Seeds: "https://a.example/\nftp://b.example/\n"})
	must(t, err)
	for _, want := range []string{`min_free = "8192MiB"`, "extra_info = true", `outbackcdx = "http://localhost:8080/fc"`, "workers = 250"} {
		if !strings.Contains(string(r.Main), want) {
			t.Errorf("no %s in\n%s", want, r.Main)
		}
	}
	want := []string{
		"line 1: the job has no metadata.operator or organization: write operator.name",
		"line 1: the job has no metadata.operatorContactUrl: write operator.contact",
		"line 8: outbackCDXClient.endpoint: the default of #{ systemEnvironment['CDX'] ?: 'http://localhost:8080/fc' } is used",
		"line 10: crawlController.maxToeThreads: the default of ${threads:250} is used",
		"line 15: odd.thing = 1 has no counterpart",
		"seeds, line 2: ftp://b.example/ is not a seed: want http:// or https:// and a host",
		"line 12: bdb.cachePercent = 60 has no counterpart",
	}
	if diff := cmp.Diff(want, notesOf(r)); diff != "" {
		t.Errorf("notes, those without effect last (-want +got):\n%s", diff)
	}
}
