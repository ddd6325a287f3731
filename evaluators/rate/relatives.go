package rate

import "math"

// Kind is a class of URIs of a host that probably change in similar ways. Zero is no class. The numbers are stored. The
// caller defines their meaning.
type Kind uint8

// Relatives holds what the URIs of one kind on a host have in common, as sums over the estimates of each URI. The
// zero value is a kind without URIs. The changes that a visit makes are a Relatives too. They are added with
// [Relatives.Plus], so the order of visits does not matter.
type Relatives struct {
	URIs   float64          // number of URIs
	Rate   [2]float64       // sum of the logarithm of the rate of change per day, and of its square
	Ageing [2]float64       // the same for the rate per unit of logarithmic age
	Weight [weights]float64 // sum of the logarithms of the beliefs' weights
	Rhythm Rhythm           // the hours and days at which they change; zero for fewer than two URIs
}

// Plus returns the sum of both.
func (k Relatives) Plus(o Relatives) Relatives {
	k.URIs += o.URIs
	for i := range k.Rate {
		k.Rate[i] += o.Rate[i]
		k.Ageing[i] += o.Ageing[i]
	}
	for i := range k.Weight {
		k.Weight[i] += o.Weight[i]
	}
	if k.Rhythm = k.Rhythm.Plus(o.Rhythm); k.URIs == 1 { // the clock of a single URI has the same rhythm
		k.Rhythm = Rhythm{}
	}
	return k
}

// share returns the terms of this URI in the sums, multiplied by sign.
func (r *Estimator) share(sign float64) Relatives {
	perDay, aged := math.Log(r.rates[len(horizons)-1].mean()), math.Log(r.aged.mean())
	k := Relatives{
		URIs: sign,
		Rate: [2]float64{sign * perDay, sign * perDay * perDay}, Ageing: [2]float64{sign * aged, sign * aged * aged},
	}
	for i, w := range r.weight {
		k.Weight[i] = sign * w
	}
	return k
}

// Join sets the kind of the URI, unless its memory already has one. A clock that has learned nothing begins with the
// rhythm of the relatives.
func (r *Estimator) Join(kind Kind, k *Relatives) {
	if r.kind == 0 {
		r.kind = kind
	} else {
		r.before = r.share(-1)
	}
	r.clock.shared = k.hours()
}

// Lesson returns the kind of the URI and what the visit changes in the relatives of that kind. The kind is zero if
// the URI has none.
func (r *Estimator) Lesson() (Kind, Relatives) {
	if r.kind == 0 {
		return 0, Relatives{}
	}
	lesson := r.before.Plus(r.share(1))
	lesson.Rhythm = r.rhythm
	return r.kind, lesson
}

// Inherit initialises the estimator of a new URI from its relatives.
func (r *Estimator) Inherit(k *Relatives) {
	if !(k.URIs > 0) {
		return
	}
	all := k.URIs + strangers
	r.believe(inherited(k.Rate, all, ratePrior))
	r.aged = inherited(k.Ageing, all, agePrior)
	for i := range r.weight {
		r.weight[i] = min(max(k.Weight[i]/all, minWeight), 0)
	}
}

// inherited returns the Gamma distribution of a rate whose logarithm is normally distributed among the relatives.
// Some imaginary URIs with the prior rate count as relatives. The mean is never above the mean of the prior, because
// the prior already makes a new URI due soon.
func inherited(sums [2]float64, all float64, prior belief) belief {
	usual := math.Log(prior.mean())
	mean := (sums[0] + strangers*usual) / all
	variance := (sums[1]+strangers*(usual*usual+strangeVariance))/all - mean*mean
	if !(variance > minVariance) {
		variance = minVariance
	}
	variance = min(variance, maxVariance)
	shape := min(max(1/math.Expm1(variance), minInherited), prior.shape)
	rate := min(math.Exp(mean+variance/2), prior.mean())
	if !(rate > 0) {
		return prior
	}
	return belief{shape, shape / rate}.bounded()
}

const (
	strangers                = 3.0 // number of imaginary URIs that count as relatives
	strangeVariance          = 2.0 // of the logarithm of their rates
	minVariance, maxVariance = 0.5, 4.0
	minInherited             = 0.2 // shape
)

// Leave returns the kind of the URI that a memory belongs to, and what must be added to the relatives of that kind so
// that the URI does not count among them any more. Its part in their rhythm stays, and fades. The kind is zero if the
// URI has none, or if the memory cannot be read.
func (m Memory) Leave() (Kind, Relatives) {
	var e Estimator
	if len(m) == 0 || e.Open(m) != nil || e.kind == 0 {
		return 0, Relatives{}
	}
	return e.kind, e.share(-1)
}
