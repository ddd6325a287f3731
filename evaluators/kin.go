package evaluators

import (
	"math"
	"strings"
)

// Kind is a class of URIs of a host that may be expected to change alike. Zero is none. The numbers are stored.
type Kind uint8

// Traits are what the kind of a URI follows from. They are looked at on its first capture, and hold from then on.
type Traits struct {
	MIME    string // the Content-Type
	Depth   int    // links from the seed; 0 is a seed
	Article bool   // its birth is known
	Size    int64  // bytes of the body
	Dated   bool   // the answer had a Last-Modified
}

const smallBody = 16 << 10

// Kind is the class of these traits: by media type (HTML, feed, other data, other), depth (0, 1, more), whether it is an
// article, small or large, and dated or not. There are 97 with none.
func (t Traits) Kind() Kind {
	mime := strings.ToLower(t.MIME)
	kind := 3
	switch {
	case strings.Contains(mime, "rss"), strings.Contains(mime, "atom"), strings.Contains(mime, "feed+json"):
		kind = 1
	case strings.Contains(mime, "html"):
		kind = 0
	case ClassOf(mime) == ClassText:
		kind = 2
	}
	kind = kind*3 + min(max(t.Depth, 0), 2)
	for _, bit := range []bool{t.Article, t.Size > smallBody, t.Dated} {
		kind *= 2
		if bit {
			kind++
		}
	}
	return Kind(kind + 1)
}

// Relatives is what the URIs of one kind on a host have in common: sums over what is thought of each of them. The zero
// value is a kind without URIs. What a visit changes in it is one too, and is added; so the order of visits does not matter.
type Relatives struct {
	URIs   float64          // how many there are
	Rate   [2]float64       // of the logarithm of the rate of change per day, and of its square
	Ageing [2]float64       // the same for the rate per unit of logarithmic age
	Weight [experts]float64 // of the logarithms of the memories' weights
	Rhythm Rhythm           // at which hours and on which days they change; of two or more
}

// Plus is what the relatives have in common after a visit's share is added.
func (k Relatives) Plus(o Relatives) Relatives {
	k.URIs += o.URIs
	for i := range k.Rate {
		k.Rate[i] += o.Rate[i]
		k.Ageing[i] += o.Ageing[i]
	}
	for i := range k.Weight {
		k.Weight[i] += o.Weight[i]
	}
	if k.Rhythm = k.Rhythm.Plus(o.Rhythm); k.URIs == 1 { // what one has it knows itself
		k.Rhythm = Rhythm{}
	}
	return k
}

// share is what one URI contributes.
func (r *remembered) share(sign float64) Relatives {
	rate, aged := math.Log(r.rates[len(horizons)-1].mean()), math.Log(r.aged.mean())
	k := Relatives{URIs: sign, Rate: [2]float64{sign * rate, sign * rate * rate}, Ageing: [2]float64{sign * aged, sign * aged * aged}}
	for i, w := range r.weight {
		k.Weight[i] = sign * w
	}
	return k
}

// inherit takes into an empty memory what is known of its relatives.
func (r *remembered) inherit(k Relatives) {
	if !(k.URIs > 0) {
		return
	}
	all := k.URIs + strangers
	rate := inherited(k.Rate, all, ratePrior)
	for i := range r.rates {
		r.rates[i] = rate
	}
	for i := range r.staged {
		for n := range r.staged[i] {
			r.staged[i][n] = rate
		}
	}
	r.aged = inherited(k.Ageing, all, agePrior)
	for i := range r.weight {
		r.weight[i] = min(max(k.Weight[i]/all, -weightFloor), 0)
	}
}

// inherited is the Gamma distribution of a rate that is distributed log-normally among relatives, some strangers to whom the
// generic belief applies among them. It is never above the generic one: what is unknown is not hurried further.
func inherited(sums [2]float64, all float64, generic belief) belief {
	usual := math.Log(generic.mean())
	mean := (sums[0] + strangers*usual) / all
	spread := (sums[1]+strangers*(usual*usual+strangeSpread))/all - mean*mean
	if !(spread > leastSpread) {
		spread = leastSpread
	}
	spread = min(spread, mostSpread)
	shape := min(max(1/math.Expm1(spread), leastShape), generic.shape)
	rate := min(math.Exp(mean+spread/2), generic.mean())
	if !(rate > 0) {
		return generic
	}
	return belief{shape, shape / rate}.bounded()
}

const (
	strangers               = 3.0 // URIs like any other that each kind is thought to have
	strangeSpread           = 2.0 // the variance of the logarithm of their rates
	leastSpread, mostSpread = 0.5, 4.0
	leastShape              = 0.2
)
