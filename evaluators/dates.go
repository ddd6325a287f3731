package evaluators

// Dating says what the dates of feeds and sitemaps are about. The numbers are stored: do not change or reuse them.
type Dating uint8

// The kinds of dates.
const (
	DatedEntries Dating = iota // when a feed listed new entries, and so changed itself
	DatedPages                 // when the pages changed that a feed or sitemap lists
	Datings      = iota        // the number of kinds
)

// String returns "entries" or "pages".
func (d Dating) String() string { return [...]string{"entries", "pages"}[d] }

// Dates records how reliable the dates of feeds and sitemaps have been on a host. The zero value knows nothing. It is a
// value: [Dates.After] returns a new one.
type Dates [Datings]Standing

// Dates are believed after datesProof right dates, and as long as at least the share datesPrecision of the last 64
// were right. Validators have to prove more. A wrong date makes an estimate less precise; a wrong validator loses a
// version.
const (
	datesProof     = 3
	datesPrecision = 0.8
)

// After returns the record after one more date was checked.
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

// Believed reports whether dates are believed.
func (d Dates) Believed(about Dating) bool {
	return d[about].Known >= datesProof && d[about].Precision() >= datesPrecision
}
