package noise

import (
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/digest"
)

// Keys returns the keys of the aspect.
func Keys(o *Options) schema.Owned {
	regex := schema.Type{Kind: schema.Regex}
	types := schema.Value("change.mime", schema.InBoth, regex, &o.MIME, schema.ReadTypePattern, nil,
		"Types that the rules apply to. Others are compared byte by byte. Must match the whole Content-Type, as in [[wait]].")
	types.Default = "'" + defaultTypes + "'"
	return schema.Owned{
		Tables: []schema.Table{{
			Name: "change", After: "retry", Doc: "How two versions of a URI are compared.",
		}},
		Vars: []schema.Var{
			schema.Choice("change.of", schema.InBoth, &o.Of,
				"What of a page decides about its next visit: its `source`, or the text that a browser shows (`rendered`), as far as `render.pages` renders it. Then there are no second fetches. See docs/rendering.md.",
				OfSource, OfRendered),
			schema.Choice("change.mode", schema.InBoth, &o.Mode,
				"`strict` compares every byte, `scrubbed` what the rules below leave, `text` what a reader sees of that.",
				Strict, Scrubbed, TextOnly),
			schema.Elements("change.scrub", schema.InBoth, "regular expressions", &o.Scrub,
				readRules(`for example '<span class="clock">.*?</span>'`, " (RE2 syntax)", digest.CheckRegex),
				"What matches is not compared, and counts as one space. The expressions are applied in turn. One that matches the empty text or whole documents is a fault."),
			schema.Elements("change.scrub_css", schema.InBoth, "CSS selectors", &o.ScrubCSS,
				readRules(`for example "span.clock" or "#ads > div"`, "", digest.CheckSelector),
				"Elements of HTML pages that are not compared."),
			types,
			schema.Bytes("change.max_size", schema.InBoth, 1<<10, 64<<20, &o.MaxSize,
				"Longer contents are compared byte by byte."),
			schema.Interval("change.max_time", schema.InBoth, time.Millisecond, 10*time.Minute, &o.MaxTime,
				"Maximum time that the rules may take on one page. A page that takes longer is compared byte by byte, and the alarm `rules` is raised."),
			schema.Count("change.tolerance", schema.InBoth, 0, 16, &o.Tolerance,
				"Maximum number of bits in which the 64-bit sketches of two equal contents differ. 3 tolerates some words on a long page. Not with `strict`."),
			keepScrubbed(&o.KeepScrubbed),
			schema.Choice("change.auto", schema.InBoth, &o.Auto,
				"What happens to a page that differs at each fetch, but not in what a reader sees after `scrub` and `scrub_css`: `schedule` lets what a reader sees decide about the next visit, `judge` also about whether the page changed, `off` ignores it. Only with the wait rules `learned` and `target`.",
				AutoSchedule, AutoJudge, AutoOff),
			schema.Interval("change.front_restless_wait", schema.InBoth, time.Second, schema.Longest, &o.FrontWait,
				"`restless_wait` of seeds and front pages, if shorter."),
			schema.Interval("change.restless_wait", schema.InBoth, 0, schema.Longest, &o.RestlessWait,
				"Shortest wait of a page that differs at each fetch, whatever is compared. A shorter `wait.max` takes precedence. `0s` = no second fetches. Only with the wait rules `learned` and `target`."),
		},
		Check: o.finish,
	}
}

// readRules returns the reader of a list of rules, each of which check must accept. example is the remedy after
// "write", and syntax ends it.
func readRules(example, syntax string, check func(string) error) func(schema.Field) []string {
	return func(f schema.Field) []string {
		return schema.ReadElements(f, example, func(e schema.Field, s string) (string, bool) {
			return s, schema.AcceptRule(e, check(s), s, "write "+example+syntax)
		})
	}
}

func keepScrubbed(k *KeepScrubbed) schema.Var {
	return schema.Every("change.keep_scrubbed", []string{"nothing", "response", "once per"},
		func() (choice int, every time.Duration) {
			switch {
			case !k.Response:
				return 0, 0
			case k.Every == 0:
				return 1, 0
			}
			return 2, k.Every
		},
		func(choice int, every time.Duration) { *k = KeepScrubbed{Response: choice > 0, Every: every} },
		"What is archived of an answer that differs only in what is not compared: `nothing`, the whole `response` each time, or the response at most `once per 7d`.")
}

// finish compiles the rules after all keys of a file, or of the [[when]] at path, are read. It warns of rules that are
// not used.
func (o *Options) finish(doc *schema.Document, path schema.Path) {
	if err := o.compile(); err != nil {
		doc.AddFault(schema.Fault{Key: "change.scrub", Problem: err.Error(), Remedy: "use fewer rules"})
	}
	for _, name := range []string{"change.scrub", "change.scrub_css", "change.tolerance", "change.keep_scrubbed"} {
		problem := `has no effect with change.mode = "strict"`
		if o.Auto != AutoOff && strings.HasPrefix(name, "change.scrub") {
			problem = `is used only for pages that differ at each fetch, with change.mode = "strict"`
		}
		used := o.Auto == AutoJudge && name == "change.keep_scrubbed"
		if f, set := doc.Setting(path, name); set && o.Mode == Strict && !used {
			f.Value = []any{} // it is not shown
			f.Warn(problem, `set mode = "scrubbed" or "text" too`)
		}
	}
	noRules := len(o.Scrub)+len(o.ScrubCSS) == 0 && o.Tolerance == 0
	if f, set := doc.Setting(path, "change.mode"); set && o.Mode == Scrubbed && noRules {
		f.Warn("has no rules and so works like strict", "set change.scrub or change.scrub_css")
	}
}
