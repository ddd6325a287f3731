// Package hold lets the host of a file that was never valid wait until the file is fixed.
package hold

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects"
)

// rest is how long a held host rests until it is checked again. Its URIs keep their due times.
const rest = time.Minute

// Aspect is the aspect.
type Aspect struct {
	Held func(*aspects.Visit) bool // reports whether the configuration holds the host of a visit
}

// Admit lets the host rest if it is held.
func (a *Aspect) Admit(v *aspects.Visit) (aspects.Admission, error) {
	if a.Held(v) {
		return aspects.Admission{RestUntil: v.Began.Add(rest)}, nil
	}
	return aspects.Admission{}, nil
}
