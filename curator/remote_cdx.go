package curator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// maxCDX is the maximum number of captures in an answer. Further ones are on further pages.
	maxCDX = 10_000
	// maxFilters is the maximum number of conditions of a question.
	maxFilters = 20
)

// cdxQuestion is a question to a CDX server, with the parameters of pywb's "CDXJ Server API".
type cdxQuestion struct {
	url         string
	prefixes    []string // of lines of the index
	exact       bool
	from, to    string // timestamps of 14 digits; "" = any
	keeps       []func(index.Entry) bool
	newestFirst bool
	closest     time.Time // not zero: the captures nearest to it come first
	limit, page int
	perPage     int
	countPages  bool
	output      string   // "cdxj", "json" or "text"
	fields      []string // nil = all
}

// cdxFields are the fields of a capture, in pywb's order, with the names that other servers have for them.
var cdxFields = []struct {
	name  string
	other []string
	of    func(index.Entry) string
}{
	{"urlkey", nil, func(e index.Entry) string { return e.Key }},
	{"timestamp", nil, func(e index.Entry) string { return e.Timestamp }},
	{"url", []string{"original"}, func(e index.Entry) string { return e.URL }},
	{"mime", []string{"mimetype"}, func(e index.Entry) string { return e.MIME }},
	{"status", []string{"statuscode"}, func(e index.Entry) string { return e.Status }},
	{"digest", nil, func(e index.Entry) string { return e.Digest }},
	{"length", nil, func(e index.Entry) string { return strconv.FormatInt(e.Length, 10) }},
	{"offset", nil, func(e index.Entry) string { return strconv.FormatInt(e.Offset, 10) }},
	{"filename", nil, func(e index.Entry) string { return e.Filename }},
}

// cdxField returns a field by one of its names.
func cdxField(name string) (of func(index.Entry) string, err error) {
	for _, f := range cdxFields {
		if f.name == name || slices.Contains(f.other, name) {
			return f.of, nil
		}
	}
	var all []string
	for _, f := range cdxFields {
		all = append(all, f.name)
	}
	return nil, badQuestion{fmt.Sprintf("there is no field %q; fields: %s", name, strings.Join(all, ", "))}
}

// readCDX reads the parameters of a question. It ignores parameters that it does not know, as other servers do.
func readCDX(query string) (q cdxQuestion, err error) {
	v, err := url.ParseQuery(query)
	if err != nil {
		return q, badQuestion{"the parameters cannot be read: " + err.Error()}
	}
	q.output, q.perPage = cmp.Or(v.Get("output"), "cdxj"), maxCDX
	if !slices.Contains([]string{"cdxj", "json", "text"}, q.output) {
		return q, badQuestion{fmt.Sprintf("output=%s: want cdxj, json or text", q.output)}
	}
	if err := q.place(v.Get("url"), v.Get("matchType")); err != nil {
		return q, err
	}
	for _, n := range []struct {
		name     string
		to       *int
		min, max int
	}{{"limit", &q.limit, 1, 1 << 30}, {"page", &q.page, 0, 1 << 20}, {"pageSize", &q.perPage, 1, maxCDX}} {
		if text := v.Get(n.name); text != "" {
			if *n.to, err = strconv.Atoi(text); err != nil || *n.to < n.min || *n.to > n.max {
				return q, badQuestion{fmt.Sprintf("%s=%s: want a number from %d to %d", n.name, text, n.min, n.max)}
			}
		}
	}
	q.countPages = v.Get("showNumPages") == "true"
	if q.from, err = boundOf("from", cmp.Or(v.Get("from"), v.Get("from_ts")), "10000101000000"); err != nil {
		return q, err
	}
	if q.to, err = boundOf("to", v.Get("to"), "99991231235959"); err != nil {
		return q, err
	}
	if err := q.order(v.Get("sort"), v.Get("closest")); err != nil {
		return q, err
	}
	if len(v["filter"]) > maxFilters {
		return q, badQuestion{fmt.Sprintf("%d filters, more than %d", len(v["filter"]), maxFilters)}
	}
	for _, text := range v["filter"] {
		keep, err := filterOf(text)
		if err != nil {
			return q, err
		}
		q.keeps = append(q.keeps, keep)
	}
	if list := cmp.Or(v.Get("fl"), v.Get("fields")); list != "" {
		for name := range strings.SplitSeq(list, ",") {
			if _, err := cdxField(name); err != nil {
				return q, err
			}
			q.fields = append(q.fields, name)
		}
	}
	return q, nil
}

// place says which captures an address and a way to match it mean.
func (q *cdxQuestion) place(address, match string) error {
	if address == "" {
		return badQuestion{"want url=ADDRESS, such as url=https://www.news.example/"}
	}
	if match == "" {
		switch {
		case strings.HasPrefix(address, "*."):
			match = "domain"
		case strings.HasSuffix(address, "*"):
			match = "prefix"
		}
	}
	address = strings.TrimSuffix(strings.TrimPrefix(address, "*."), "*")
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	key := uri.ReplayKey(address)
	host, _, _ := strings.Cut(key, ")")
	switch q.url = address; match {
	case "", "exact":
		q.exact, q.prefixes = true, []string{key + " "}
	case "prefix":
		if u, err := url.Parse(address); err == nil && u.Path == "" && !strings.HasSuffix(key, "/") {
			key = host + ")/"
		}
		q.prefixes = []string{key}
	case "host":
		q.prefixes = []string{host + ")"}
	case "domain":
		q.prefixes = []string{host + ")", host + ","}
	default:
		return badQuestion{fmt.Sprintf("matchType=%s: want exact, prefix, host or domain", match)}
	}
	return nil
}

// order reads in which order the captures are wanted.
func (q *cdxQuestion) order(sort, closest string) (err error) {
	switch sort {
	case "", "default":
	case "reverse":
		q.newestFirst = true
	case "closest":
		if closest == "" {
			return badQuestion{"sort=closest needs closest=TIMESTAMP"}
		}
	default:
		return badQuestion{fmt.Sprintf("sort=%s: want reverse or closest", sort)}
	}
	if closest != "" {
		at, err := boundOf("closest", closest, "10000101000000")
		if err == nil {
			q.closest, err = index.ParseStamp(at)
		}
		if err != nil {
			return badQuestion{fmt.Sprintf("closest=%s: want up to 14 digits, such as 20261121", closest)}
		}
	}
	if (q.newestFirst || !q.closest.IsZero()) && (!q.exact || q.page > 0) {
		return badQuestion{"an order by time is of the captures of one URI, without matchType and page"}
	}
	return nil
}

// boundOf returns a timestamp of 14 digits that begins with the digits of a parameter.
func boundOf(name, text, pad string) (string, error) {
	if strings.Trim(text, "0123456789") != "" || len(text) > len(index.DateLayout)+3 {
		return "", badQuestion{fmt.Sprintf("%s=%s: want up to 14 digits, such as 20261121", name, text)}
	}
	if text == "" {
		return "", nil
	}
	if len(text) < len(pad) {
		text += pad[len(text):]
	}
	return text[:len(index.DateLayout)], nil
}

// filterOf reads a condition: [!][=|~]field:value. Without a sign, the field contains the value; ~ is a regular
// expression that matches the beginning.
func filterOf(text string) (keep func(index.Entry) bool, err error) {
	rest, not := strings.CutPrefix(text, "!")
	kind := ""
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "~") {
		kind, rest = rest[:1], rest[1:]
	}
	name, value, ok := strings.Cut(rest, ":")
	if !ok {
		return nil, badQuestion{fmt.Sprintf("filter=%s: want [!][=|~]FIELD:VALUE, such as filter==status:200", text)}
	}
	of, err := cdxField(name)
	if err != nil {
		return nil, err
	}
	fits := func(s string) bool { return strings.Contains(s, value) }
	switch kind {
	case "=":
		fits = func(s string) bool { return s == value }
	case "~":
		pattern, err := regexp.Compile("^(?:" + value + ")")
		if err != nil {
			return nil, badQuestion{fmt.Sprintf("filter=%s: %v", text, err)}
		}
		fits = pattern.MatchString
	}
	return func(e index.Entry) bool { return fits(of(e)) != not }, nil
}

// wants reports whether a capture is asked for.
func (q *cdxQuestion) wants(e index.Entry) bool {
	second := e.Timestamp[:min(len(e.Timestamp), len(index.DateLayout))]
	if q.from != "" && second < q.from || q.to != "" && second > q.to {
		return false
	}
	return !slices.ContainsFunc(q.keeps, func(keep func(index.Entry) bool) bool { return !keep(e) })
}

// each calls do with the wanted captures in order.
func (q *cdxQuestion) each(l *captures.Library, do func(index.Entry) bool) error {
	more := true
	for _, prefix := range q.prefixes {
		if !more {
			return nil
		}
		if err := l.Ordered(prefix, func(e index.Entry) bool {
			if q.wants(e) {
				more = do(e)
			}
			return more
		}); err != nil {
			return err
		}
	}
	return nil
}

// answer returns the captures of a page.
func (q *cdxQuestion) answer(l *captures.Library) (found []index.Entry, err error) {
	size := q.perPage
	if q.limit > 0 {
		size = min(size, q.limit-min(q.limit, q.page*q.perPage))
	}
	if size == 0 {
		return nil, nil
	}
	better := func(a, b index.Entry) int { return index.Compare(b, a) }
	if !q.closest.IsZero() {
		away := func(e index.Entry) time.Duration { return e.Date().Sub(q.closest).Abs() }
		better = func(a, b index.Entry) int { return cmp.Or(cmp.Compare(away(a), away(b)), index.Compare(a, b)) }
	}
	byTime, skip := q.newestFirst || !q.closest.IsZero(), q.page*q.perPage
	err = q.each(l, func(e index.Entry) bool {
		if skip > 0 {
			skip--
			return true
		}
		found = append(found, e)
		if byTime && len(found) > 2*size {
			slices.SortFunc(found, better)
			found = found[:size]
		}
		return byTime || len(found) < size
	})
	if byTime {
		slices.SortFunc(found, better)
		found = found[:min(len(found), size)]
	}
	return found, err
}

// cdx answers a question to a CDX server.
func (m *remote) cdx(to http.ResponseWriter, l *captures.Library, query string) error {
	q, err := readCDX(query)
	if err != nil {
		return err
	}
	if q.countPages {
		return q.pages(to, l)
	}
	found, err := q.answer(l)
	switch {
	case err != nil:
		return err
	case len(found) == 0 && q.page > 0:
		return badQuestion{fmt.Sprintf("page=%d: there is no such page", q.page)}
	case len(found) == 0:
		refuse(to, http.StatusNotFound, "No Captures found for: "+q.url)
		return nil
	}
	var out bytes.Buffer
	for _, e := range found {
		q.write(&out, e)
	}
	mime := map[string]string{"cdxj": "text/x-cdxj", "json": "application/x-ndjson", "text": "text/plain"}[q.output]
	to.Header().Set("Content-Type", mime+"; charset=utf-8")
	_, _ = to.Write(out.Bytes()) // an error means that the program has gone
	return nil
}

// pages answers how many pages there are.
func (q *cdxQuestion) pages(to http.ResponseWriter, l *captures.Library) error {
	n := 0
	if err := q.each(l, func(index.Entry) bool { n++; return true }); err != nil {
		return err
	}
	to.Header().Set("Content-Type", "application/json; charset=utf-8")
	pages := (n + q.perPage - 1) / q.perPage
	_ = json.NewEncoder(to).Encode(map[string]int{"pages": pages, "pageSize": q.perPage, "blocks": pages})
	return nil
}

// write writes the line of a capture.
func (q *cdxQuestion) write(out *bytes.Buffer, e index.Entry) {
	if q.output == "cdxj" && q.fields == nil {
		out.Write(e.AppendTo(nil))
		return
	}
	names := q.fields
	if names == nil {
		for _, f := range cdxFields {
			names = append(names, f.name)
		}
	}
	if q.output == "cdxj" {
		fmt.Fprintf(out, "%s %s ", e.Key, e.Timestamp)
	}
	sign := "{"
	for i, name := range names {
		of, _ := cdxField(name) // it was checked
		if q.output == "text" {
			if i > 0 {
				out.WriteByte(' ')
			}
			out.WriteString(cmp.Or(strings.ReplaceAll(of(e), " ", "%20"), "-"))
			continue
		}
		key, _ := json.Marshal(name)
		value, _ := json.Marshal(of(e)) // texts
		fmt.Fprintf(out, "%s%s: %s", sign, key, value)
		sign = ", "
	}
	if q.output != "text" {
		out.WriteByte('}')
	}
	out.WriteByte('\n')
}
