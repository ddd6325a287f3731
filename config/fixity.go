// This file holds the settings of the table "fixity": how finished WARC files are checked again.

package config

import (
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Fixity says how finished WARC files are compared with their manifest, again and again.
type Fixity struct {
	Daily float64 // share of the files that is read each day; 0 = none
	Rate  int64   // maximum of bytes that are read in a second

	SignKey   string // file with the key that signs the manifest, absolute; "" = none
	Timestamp string // address of a time-stamp server; "" = none
}

// Resolve makes the path of the key absolute.
func (f *Fixity) Resolve(absolute func(string) string) {
	if f.SignKey != "" {
		f.SignKey = absolute(f.SignKey)
	}
}

// fixityKeys are the keys of [fixity].
func (d *draft) fixityKeys() []schema.Var {
	c := d.config
	return []schema.Var{
		schema.Value("fixity.daily", InMain, schema.Type{Kind: schema.Text}, &c.Fixity.Daily, readPercent,
			func(share float64) string { return strconv.Quote(strconv.FormatFloat(100*share, 'g', 6, 64) + "%") },
			"Share of the finished WARC files that is read and compared with the manifest each day, the oldest check first. `2%`: each file every 50 days. `0%`: none."),
		schema.Bytes("fixity.rate", InMain, 64<<10, 1<<40, &c.Fixity.Rate,
			"Maximum of bytes read for that in a second."),
		schema.Optional("fixity.sign_key", InMain, schema.CheckPath, &c.Fixity.SignKey,
			"File with an ECDSA key (P-384, PEM). It signs the manifest once a day, if files were added. Empty: none."),
		schema.Optional("fixity.timestamp", InMain, schema.CheckWebhook, &c.Fixity.Timestamp,
			"Address of a time-stamp server (RFC 3161) that confirms the manifest once a day, if files were added. Empty: none."),
	}
}

// readPercent reads a share, as "2%".
func readPercent(f schema.Field) (share float64, ok bool) {
	const remedy = `write for example "2%"`
	s, ok := f.Text(`for example "2%"`)
	if !ok {
		return 0, false
	}
	digits, percent := strings.CutSuffix(s, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !percent || err != nil || !(n >= 0 && n <= 100) { // NaN is no number
		f.Fault("is not a share from 0% to 100%", remedy)
		return 0, false
	}
	return n / 100, true
}
