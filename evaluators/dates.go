package evaluators

// Dating is what the dates of feeds and sitemaps can be about. The numbers are stored and only ever added to.
type Dating uint8

// What is dated.
const (
	DatedEntries Dating = iota // when a feed listed something new: then it changed itself
	DatedPages                 // when the pages changed that a feed or sitemap lists
	Datings      = iota        // how many there are
)

// String is "entries" or "pages".
func (d Dating) String() string { return [...]string{"entries", "pages"}[d] }

// Dates are what the dates that feeds and sitemaps give have been worth on a host. The zero value knows nothing. It is
// a value: [Dates.After] gives a new one.
type Dates [Datings]Standing

// A date is believed after so many that came true, and as long as so large a share of the last 64 did. That is less
// than is asked of validators, since a wrong date costs an estimate some precision, and no version.
const (
	datesProof     = 3
	datesPrecision = 0.8
)

// After is what is known after one more date was looked into: right is one that came true.
func (d Dates) After(about Dating, right bool) Dates {
	s := d[about].predicted(right)
	if right {
		s.ChangeRight++
	} else {
		s.ChangeWrong++
	}
	d[about] = s
	return d
}

// Believed reports whether dates are taken for what they say.
func (d Dates) Believed(about Dating) bool {
	return d[about].Known >= datesProof && d[about].Precision() >= datesPrecision
}
