package heritrix_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/lab/heritrix"
)

// shape is a way in which public jobs write something. Each one was lost, or noted wrongly, at some time.
type shape struct {
	beans  string            // in <beans>, which is line 1, behind metadata
	files  map[string]string // next to the job
	main   []string          // lines of arcrawl.toml
	absent string            // not in arcrawl.toml
	host   string            // the file of www.paper.example
	notes  []string
}

const operator = `<beans><bean id="metadata" class="x.CrawlMetadata"><property name="operator" value="Library"/>` +
	`<property name="operatorContactUrl" value="https://library.example/"/></bean>`

var shapes = map[string]shape{
	"an import with a default name, and an import in it": {
		beans: `<import resource="${FRONTIER:frontier.xml}"/>`,
		files: map[string]string{
			"frontier.xml": `<beans>` + "\n" + `<bean id="frontier" class="x.BdbFrontier"><property name="maxOutlinks" value="60"/></bean>` +
				`<import resource="more.xml"/></beans>`,
			"more.xml": `<beans>` + "\n\n" + `<bean id="odd" class="x.Odd"><property name="thing" value="1"/></bean><import resource="more.xml"/></beans>`,
		},
		main: []string{"max_links = 60"},
		notes: []string{
			"line 1: import: the default of ${FRONTIER:frontier.xml} is used",
			"more.xml, line 3: odd.thing = 1 has no counterpart",
		},
	},
	"an import that is not there": {
		beans: `<import resource="sheets.xml"/>`,
		notes: []string{"line 1: the import of sheets.xml is not converted: no such file"},
	},
	"an import that is not XML": {
		beans: `<import resource="sheets.xml"/>`,
		files: map[string]string{"sheets.xml": "<beans>\n<bean>\n</beans>"},
		notes: []string{"line 1: the import of sheets.xml is not converted: line 3: XML syntax error on line 3: " +
			"element <bean> closed by </beans>"},
	},
	"rules behind references, and a list that is a bean of an imported file": {
		beans: `<bean id="scope" class="x.DecideRuleSequence"><property name="rules"><list><ref bean="hops"/><ref bean="unwanted"/></list></property></bean>
<bean id="hops" class="x.TooManyHopsDecideRule"><property name="maxHops" value="#{systemEnvironment['HOPS'] ?: 7 }"/></bean>
<bean id="unwanted" class="my.MatchesListRegexDecideRule"><property name="decision" value="REJECT"/><property name="listLogicalOr" value="true"/><property name="regexList" ref="list"/></bean>
<import resource="excludes.xml"/>`,
		files: map[string]string{"excludes.xml": `<beans><bean id="list" class="java.util.ArrayList"><constructor-arg><list>
<value>.*/cart/.*</value>
<value>.*(?=x)</value></list></constructor-arg></bean></beans>`},
		main: []string{"max_hops = 7", "rules = ['reject ^(?:.*/cart/.*)$']"},
		notes: []string{
			"line 2: hops.maxHops: the default of #{systemEnvironment['HOPS'] ?: 7 } is used",
			"excludes.xml, line 3: RE2 does not support the expression .*(?=x): error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
		},
	},
	"the last rule decides in Heritrix, the first one here": {
		beans: scoped(`<bean class="x.MatchesRegexDecideRule"><property name="decision" value="REJECT"/><property name="regex" value="a"/></bean>
<bean class="x.MatchesRegexDecideRule"><property name="regex" value="b"/></bean>`),
		main: []string{"rules = [\n    'accept ^(?:b)$',\n    'reject ^(?:a)$',\n]"},
	},
	"an expression outside of the scope is no rule of the scope": {
		beans: `<bean id="writer" class="my.OddProcessor"><property name="shouldProcessRule">
<bean class="x.MatchesRegexDecideRule"><property name="regex" value="a"/></bean></property></bean>`,
		absent: "rules",
		notes:  []string{"line 1: writer.shouldProcessRule = (1 beans, 0 values) has no counterpart"},
	},
	"rules without counterpart, with and without properties": {
		beans: scoped(`<bean class="x.RejectDecideRule"/>
<bean class="x.OnDomainsDecideRule"/>
<bean class="x.HopsPathMatchesRegexDecideRule"><property name="regex" value="E+"/></bean>
<bean class="x.OddDecideRule"><property name="enabled" value="${odd:false}"/></bean>`),
		notes: []string{
			"line 2: the rule OnDomainsDecideRule has no counterpart",
			"line 3: HopsPathMatchesRegexDecideRule.regex = E+ has no counterpart",
			"line 4: the rule OddDecideRule is switched off",
		},
	},
	"a maximum depth of paths, and guesses": {
		beans: scoped(`<bean class="x.TooManyPathSegmentsDecideRule"><property name="maxPathDepth" value="15"/></bean>
<bean class="x.TransclusionDecideRule"><property name="maxSpeculativeHops" value="2"/></bean>`),
		main: []string{`rules = ['reject ^https?://[^/?#]*(?:/[^/?#]*){16}']`, "max_speculative_hops = 2"},
	},
	"files of prefixes: SURTs and URIs": {
		beans: scoped(`<bean class="my.WatchedFileSurtPrefixedDecideRule"><property name="surtsSourceFile" value="surts.txt"/><property name="surtsDumpFile" value="d"/></bean>
<bean class="x.SurtPrefixedDecideRule"><property name="decision" value="REJECT"/><property name="surtsSourceFile" value="gone.txt"/></bean>`),
		files: map[string]string{"surts.txt": "# ours\nhttp://(example,radio,\n\n+http://short.example/a/b\nhttp://(example,tv,www,:8080)/live\n" +
			"http://(example,new\nnot a prefix\n"},
		main: []string{"rules = [\n" + `    'accept ^https?://(?:[^/?#]*[.])?new[^./:?#]*[.]example(?::\d+)?(?:[/?#]|$)',
    'accept ^https?://www[.]tv[.]example:8080/live',
    'accept ^https?://short[.]example(?::\d+)?/a/',
    'accept ^https?://(?:[^/?#]*[.])?radio[.]example(?::\d+)?(?:[/?#]|$)',
]`},
		notes: []string{
			"line 2: the prefixes in gone.txt are not converted: no such file",
			"surts.txt, line 7: not a prefix is not a prefix of a host or domain",
		},
	},
	"an override reaches a rule by its number": {
		beans: `<bean id="o" class="x.PropertyOverrideConfigurer"><property name="properties"><!-- two
lines --><value>
scope.rules[1].maxHops=25
scope.rules[9].maxHops=3
scope=3
=
</value></property></bean>` + scoped(`<bean class="x.RejectDecideRule"/><bean class="x.TooManyHopsDecideRule"><property name="maxHops" value="5"/></bean>`),
		main: []string{"max_hops = 25"},
		notes: []string{
			"line 4: scope.rules[9].maxHops = 3 has no counterpart",
			"line 5: scope = 3 has no counterpart",
			"line 6: = is not a property",
		},
	},
	"an override replaces a property, noted once": {
		beans: `<bean id="o" class="x.PropertyOverrideConfigurer"><property name="properties"><value>
odd.thing=2
%{ANOTHER_PROGRAM}
<!-- one
two -->
disposition.minDelayMs=2000
missing.thing=3
</value></property></bean><bean id="odd" class="x.Odd"><property name="thing" value="1"/></bean>
<bean id="disposition" class="my.ModifiedDispositionProcessor"><property name="minDelayMs" value="9"/></bean>`,
		main: []string{`min_delay = "2s"`},
		notes: []string{
			"line 2: odd.thing = 2 has no counterpart",
			"line 3: %{ANOTHER_PROGRAM} is not a property",
			"line 7: missing.thing = 3 has no counterpart",
		},
	},
	"beans with names and classes of the job's own; the first one decides": {
		beans: `<bean id="writerDefault" class="my.ExtendedWARCWriterProcessor"><property name="prefix" value="#{env['P'] ?: 'NL'}"/></bean>
<bean id="writerOther" class="x.WARCWriterChainProcessor"><property name="prefix" value="#{env['P'] ?: 'NL'}-OTHER"/></bean>
<bean id="queues" class="my.DomainQueueAssignmentPolicy"><property name="parallelQueues"><value>2</value></property></bean>`,
		main: []string{`prefix = "NL"`, "valence = 2"},
		notes: []string{
			"line 1: writerDefault.prefix: the default of #{env['P'] ?: 'NL'} is used",
			"line 2: writerOther.prefix = #{env['P'] ?: 'NL'}-OTHER: writerDefault.prefix is used for warc.prefix",
		},
	},
	"an expression inside a text, with and without default": {
		beans: `<bean id="warcWriter" class="x.WARCWriterProcessor"><property name="prefix" value="${a:NL}-${b:news}"/></bean>
<bean id="outbackCDXClient" class="x.OutbackCDXClient"><property name="endpoint" value="http://${CDX}/fc"/></bean>`,
		main:   []string{`prefix = "NL-news"`},
		absent: "outbackcdx",
		notes: []string{
			"line 1: warcWriter.prefix: the default of ${a:NL}-${b:news} is used",
			"line 2: outbackCDXClient.endpoint = http://${CDX}/fc has no default: write index.outbackcdx",
		},
	},
	"seeds in the bean of the seeds": {
		beans: `<bean id="seeds" class="x.TextSeedModule"><property name="textSource"><bean class="x.ConfigString"><property name="value"><value>
https://www.paper.example/
ftp://old.example/
</value></property></bean></property></bean>`,
		host:  "[seeds]\nuris = [\"https://www.paper.example/\"]\n",
		notes: []string{"line 3: ftp://old.example/ is not a seed: want http:// or https:// and a host"},
	},
	"seeds in a file next to the job": {
		beans: `<bean id="seeds" class="x.TextSeedModule"><property name="textSource"><bean class="x.ConfigFile"><property name="path" value="seeds.txt"/></bean></property></bean>`,
		files: map[string]string{"seeds.txt": "https://www.paper.example/\n-http://(example,paper,www,)/print\nhttp://\n"},
		main:  []string{`rules = ['reject ^https?://www[.]paper[.]example(?::\d+)?/print']`},
		host:  "[seeds]\nuris = [\"https://www.paper.example/\"]\n",
		notes: []string{"seeds.txt, line 3: http:// is not a seed: want http:// or https:// and a host"},
	},
	"seeds in a file that an override names and that is not there": {
		beans: `<bean id="o" class="x.PropertyOverrideConfigurer"><property name="properties"><value>seeds.textSource.path=seeds.txt</value></property></bean>
<bean id="seeds" class="x.TextSeedModule"><property name="textSource"><bean class="x.ConfigFile"><property name="path" value="other.txt"/></bean></property></bean>`,
		notes: []string{"line 1: the seeds in seeds.txt are not converted: no such file; give the file with --seeds"},
	},
	"a sheet that blocks, also below a host": {
		beans: sheet("preselector.blockAll", "true", "http://(example,paper,www,)/print/", "http://(example,tv,"),
		main: []string{"rules = [\n" + `    'reject ^https?://(?:[^/?#]*[.])?tv[.]example(?::\d+)?(?:[/?#]|$)',
    'reject ^https?://www[.]paper[.]example(?::\d+)?/print/',
]`},
	},
	"a sheet without counterpart: one note, no empty host file": {
		beans: sheet("odd.thing", "1", "http://(example,paper,www,)/", "http://(example,tv,"),
		notes: []string{"line 1: odd.thing = 1 has no counterpart"},
	},
	"text that another program replaces": {
		beans: "%{BEANS}<bean id=\"c\" class=\"x.Chain\"><property name=\"p\"><list>\n %{MORE} </list></property></bean>",
		notes: []string{
			"line 1: the text %{BEANS} in <beans> is not a setting; if another program replaces it, convert its result",
			"line 1: the text %{MORE} in <list> is not a setting; if another program replaces it, convert its result",
		},
	},
	"lists and beans as values, a chain of references, a bean without name": {
		beans: `<bean id="http" class="x.FetchHTTP"><property name="acceptHeaders"><list><value>A</value><value>B</value></list></property></bean>
<bean id="chain" class="x.FetchChain"><property name="processors"><list><ref bean="http"/></list></property></bean>
<bean class="my.Exporter"><property name="port" value="9118"/></bean>`,
		notes: []string{
			"line 1: http.acceptHeaders = (0 beans, 2 values) has no counterpart",
			"line 3: Exporter.port = 9118 has no counterpart",
		},
	},
	"settings that are off, and a password": {
		beans: `<bean id="quota" class="x.QuotaEnforcer"><property name="hostMaxAllKb" value="-1"/><property name="groupMaxAllKb" value="500"/></bean>
<bean id="login" class="x.Credential"><property name="password" value="secret"/></bean>`,
		notes: []string{
			"line 1: quota.groupMaxAllKb = 500 has no counterpart",
			"line 2: login.password = (hidden) has no counterpart",
			"line 1: quota.hostMaxAllKb = -1 has no counterpart",
		},
	},
	"an address that is not one is noted once": {
		beans: `<bean id="metadata" class="x.CrawlMetadata"><property name="organization" value="Library"/><property name="operatorContactUrl" value="ENTER_AN_URL"/></bean>`,
		notes: []string{`line 1: metadata.operatorContactUrl: "ENTER_AN_URL" is neither a web address nor an e-mail address: write operator.contact`},
	},
	"robots.txt: obeyed under both names, never ignored": {
		beans: `<bean id="policy" class="my.CrawlMetadata"><property name="robotsPolicyName" value="classic"/></bean>
<bean id="policy2" class="my.CrawlMetadata"><property name="robotsPolicyName" value="ignore"/></bean>`,
		notes: []string{"line 2: policy2.robotsPolicyName = ignore has no counterpart"},
	},
}

// scoped returns a scope with rules.
func scoped(rules string) string {
	return `<bean id="scope" class="x.DecideRuleSequence"><property name="rules"><list>` + rules + `</list></property></bean>`
}

// sheet returns a sheet with a setting, and its prefixes.
func sheet(key, value string, prefixes ...string) string {
	return `<bean id="s" class="x.Sheet"><property name="map"><map><entry key="` + key + `" value="` + value + `"/></map></property></bean>` +
		`<bean class="x.SurtPrefixesSheetAssociation"><property name="surtPrefixes"><list><value>` + strings.Join(prefixes, "</value><value>") +
		`</value></list></property><property name="targetSheetNames"><list><value>s</value></list></property></bean>`
}

func TestConvertShapesOfPublicJobs(t *testing.T) {
	t.Parallel()
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := operator + s.beans + "</beans>"
			if strings.Contains(s.beans, "ENTER_AN_URL") {
				job = "<beans>" + s.beans + "</beans>"
			}
			r, err := heritrix.Convert(heritrix.Job{Beans: []byte(job), Read: func(name string) ([]byte, error) {
				if text, ok := s.files[name]; ok {
					return []byte(text), nil
				}
				return nil, errors.New("no such file")
			}})
			must(t, err)
			for _, want := range s.main {
				if !strings.Contains(string(r.Main), want+"\n") {
					t.Errorf("no %s in\n%s", want, r.Main)
				}
			}
			if s.absent != "" && strings.Contains(string(r.Main), s.absent) {
				t.Errorf("%s in\n%s", s.absent, r.Main)
			}
			if got := string(r.Hosts["www.paper.example"]); got != s.host {
				t.Errorf("the host file is %q, want %q", got, s.host)
			}
			if diff := cmp.Diff(s.notes, notesOf(r)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if !slices.Equal(s.main, nil) && r.Converted <= 2 {
				t.Errorf("%d settings counted as converted, want more than the two of the operator", r.Converted)
			}
			if !strings.Contains(s.beans, "ENTER_AN_URL") {
				load(t, r)
			}
		})
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
