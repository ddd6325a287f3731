package curator

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// seedPlanner compares a list with the configuration.
type seedPlanner struct {
	f      configFiles
	plan   SeedPlan
	list   *seedList
	config *config.Config
	index  config.SiteIndex
	faulty map[string]bool // host files
	seeds  map[uri.URI]config.Seed
	goals  map[string]map[string]seedGoal // of host files, by name and URI
	edits  map[string]*seedEdit           // by file name
}

// seedEdit collects what changes in a host file.
type seedEdit struct {
	host  uri.Host
	seeds []string // new
	sites map[uri.URI]config.Site
	goals map[string]seedGoal
}

// Plan compares a list of seeds, CSV or plain text, with the configuration. Lines with faults are left out. The error
// says that the files cannot be read, or that the new texts would be faulty.
func (f configFiles) Plan(list []byte) (SeedPlan, error) {
	l := readList(list)
	c, faulty, err := f.load()
	if err != nil {
		return SeedPlan{}, err
	}
	p := seedPlanner{
		f: f, plan: SeedPlan{Seeds: []PlannedSeed{}}, list: &l, config: c, index: c.Sites(), faulty: faulty,
		seeds: make(map[uri.URI]config.Seed, len(c.Seeds)), goals: map[string]map[string]seedGoal{},
		edits: map[string]*seedEdit{},
	}
	for _, s := range c.Seeds {
		p.seeds[s.URI] = s
	}
	lines := make(map[uri.URI]int, len(l.Entries))
	for _, e := range l.Entries {
		if first, twice := lines[e.uri]; twice {
			l.refuse(e, fmt.Sprintf("is the URI of line %d too", first), "remove one of the lines")
			continue
		}
		lines[e.uri] = e.Line
		p.entry(e)
	}
	if err := p.write(); err != nil {
		return SeedPlan{}, err
	}
	slices.SortStableFunc(l.Faults, func(a, b ListFault) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(p.plan.Seeds, func(a, b PlannedSeed) int { return cmp.Compare(b.State, a.State) }) // new first
	p.plan.Faults, p.plan.Faulty = append([]ListFault{}, l.Faults...), l.Faulty
	return p.plan, nil
}

// entry plans what an entry changes.
func (p *seedPlanner) entry(e seedEntry) {
	known, is := p.seeds[e.uri]
	name := filepath.Base(known.File)
	if !is {
		name = p.fileOf(e.uri.Host())
	}
	inMain := is && p.f.Texts[name] == nil
	_, exists := p.f.Texts[name]
	if p.faulty[name] {
		p.list.refuse(e, "belongs to the file "+name+", which has faults", "arcrawl check lists them; fix them first")
		return
	}
	site, goal, news := p.merged(e, name)
	state := "new"
	switch {
	case is && !news:
		p.plan.Known++
		return
	case inMain:
		p.list.refuse(e, "is a seed of the main file, which lists do not change", "move the seed to the file of its host")
		return
	case is:
		state = "changed"
		p.plan.Changed++
	default:
		p.plan.New++
	}
	p.plan.Seeds = append(p.plan.Seeds, PlannedSeed{URI: e.Text, State: state, Line: e.Line, About: e.Site})
	d := p.edits[name]
	if d == nil {
		d = &seedEdit{host: e.uri.Host(), sites: map[uri.URI]config.Site{}, goals: map[string]seedGoal{}}
		p.edits[name] = d
		if !exists {
			p.plan.NewFiles++
		}
	}
	if !is {
		d.seeds = append(d.seeds, e.Text)
	}
	d.sites[e.uri] = site
	if goal.Target > 0 {
		d.goals[e.Text] = goal
	}
}

// fileOf returns the name of the file of a host, which may not exist yet.
func (p *seedPlanner) fileOf(h uri.Host) string {
	if name, ok := p.index.FileOf[h]; ok {
		return name
	}
	return config.HostFileName(h) + ".toml"
}

// merged returns the description and the goal of a seed, with what an entry says. news reports whether the entry says
// anything new.
func (p *seedPlanner) merged(e seedEntry, name string) (site config.Site, goal seedGoal, news bool) {
	if p.goals[name] == nil {
		p.goals[name] = goalsIn(p.f.Texts[name])
	}
	was, goal := p.index.Seeds[e.uri], p.goals[name][e.Text]
	wanted := goal
	if e.Target > 0 {
		wanted = seedGoal{Target: e.Target, Until: e.Until}
	}
	site = was
	for _, field := range []struct{ to, from *[]string }{
		{&site.Labels, &e.Labels}, {&site.Collections, &e.Collections}, {&site.Owners, &e.Owners},
	} {
		if len(*field.from) > 0 {
			*field.to = *field.from
		}
	}
	site.Title, site.Note = cmp.Or(e.Title, was.Title), cmp.Or(e.Note, was.Note)
	return site, wanted, wanted != goal || !site.Equal(was)
}

// write makes the new texts of the host files, and checks the configuration with them.
func (p *seedPlanner) write() error {
	described := map[string][]uri.URI{}
	for u := range p.index.Seeds {
		if s, ok := p.seeds[u]; ok {
			name := filepath.Base(s.File)
			described[name] = append(described[name], u)
		}
	}
	p.plan.Texts = make(map[string][]byte, len(p.edits))
	var byHand []string
	for _, name := range slices.Sorted(maps.Keys(p.edits)) {
		d := p.edits[name]
		for _, u := range described[name] {
			if _, changed := d.sites[u]; !changed {
				d.sites[u] = p.index.Seeds[u]
			}
		}
		for u, g := range p.goals[name] {
			if _, changed := d.goals[u]; !changed {
				d.goals[u] = g
			}
		}
		text, err := d.apply(p.f.Texts[name])
		if err != nil {
			byHand = append(byHand, fmt.Sprintf("%s: %v", filepath.Join(p.f.Dir, name), err))
			continue
		}
		if !bytes.Equal(text, p.f.Texts[name]) {
			p.plan.Texts[name] = text
		}
	}
	if len(byHand) > 0 {
		return fmt.Errorf("cannot change some host files; nothing was written:\n%s", strings.Join(byHand, "\n"))
	}
	p.plan.Files = len(p.plan.Texts)
	if err := p.f.check(p.plan.Texts, p.faulty); err != nil {
		return fmt.Errorf("the host files would have faults; nothing was written:\n%w", err)
	}
	return nil
}

// apply returns the new text of a host file.
func (d *seedEdit) apply(text []byte) (_ []byte, err error) {
	seeds := d.seeds
	if text == nil {
		text, seeds = []byte(config.NewHostFile(d.host, seeds[:1])), seeds[1:]
	}
	if text, err = moreSeeds(text, seeds); err != nil {
		return nil, err
	}
	var all []config.NamedSeed
	for u, site := range d.sites {
		if !site.Equal(config.Site{}) {
			all = append(all, config.NamedSeed{URI: u, Site: site})
		}
	}
	slices.SortFunc(all, func(a, b config.NamedSeed) int { return cmp.Compare(a.URI.String(), b.URI.String()) })
	if text, err = describeSeeds(text, all); err != nil {
		return nil, err
	}
	return setGoals(text, d.goals)
}

// Export writes the seeds that a filter selects as CSV, with the columns of a list. [configFiles.Plan] reads it
// back.
func (f configFiles) Export(out io.Writer, only config.Filter) error {
	c, _, err := f.load()
	if err != nil {
		return err
	}
	index := c.Sites()
	goals := map[string]map[string]seedGoal{}
	w := csv.NewWriter(out)
	_ = w.Write(listColumns) // an error is returned by w.Error
	for _, s := range c.Seeds {
		if !only.Matches(c.SeedSite(s.URI)) {
			continue
		}
		name := filepath.Base(s.File)
		if goals[name] == nil {
			goals[name] = goalsIn(f.Texts[name])
		}
		row := cellsOf(s.URI.String(), index.Seeds[s.URI], goals[name][s.URI.String()])
		for i := range row {
			row[i] = cellOf(row[i])
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// formula matches what a spreadsheet computes as a formula, and numbers with a sign.
var formula = regexp.MustCompile(`^[=+\-@\t\r\n]`)

// number matches a number with a sign.
var number = regexp.MustCompile(`^[+-][0-9]+(\.[0-9]+)?$`)

// cellOf returns a text as a cell of a CSV file that people open in a spreadsheet. An apostrophe is before what
// would be a formula, and before a text that looks as if it had been written so; [textOf] takes it away.
func cellOf(text string) string {
	if bare := strings.TrimLeft(text, "'"); formula.MatchString(bare) && !number.MatchString(text) {
		return "'" + text
	}
	return text
}

// textOf returns the text of a cell that [cellOf] wrote.
func textOf(cell string) string {
	if text, ok := strings.CutPrefix(cell, "'"); ok && cellOf(text) == cell {
		return text
	}
	return cell
}
