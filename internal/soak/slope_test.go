package soak_test

import (
	"math"
	"testing"
)

// slope is the growth of a line of samples, by the method of least squares.
type slope struct {
	mean   float64 // of the samples
	growth float64 // from the first sample to the last
	within float64 // half the width of the 95 % confidence interval of growth
}

// slopeOf estimates the growth of samples that were taken at equal intervals. Neighboring samples may resemble each
// other, so the interval uses the estimate of Newey and West. It is at least as wide as without it.
func slopeOf(y []float64) slope {
	n := len(y)
	if n < 3 {
		return slope{within: math.Inf(1)}
	}
	mx, my := float64(n-1)/2, 0.0
	for _, v := range y {
		my += v / float64(n)
	}
	var sxx, sxy float64
	for i, v := range y {
		sxx += (float64(i) - mx) * (float64(i) - mx)
		sxy += (float64(i) - mx) * (v - my)
	}
	b := sxy / sxx
	score, residuals := make([]float64, n), 0.0
	for i, v := range y {
		e := v - my - b*(float64(i)-mx)
		residuals += e * e
		score[i] = e * (float64(i) - mx)
	}
	lags := int(4 * math.Pow(float64(n)/100, 2.0/9))
	var long float64
	for lag := 0; lag <= lags; lag++ {
		var sum float64
		for i := lag; i < n; i++ {
			sum += score[i] * score[i-lag]
		}
		if lag > 0 {
			sum *= 2 * (1 - float64(lag)/float64(lags+1))
		}
		long += sum
	}
	plain := residuals / float64(n-2) / sxx
	variance := max(plain, long/(sxx*sxx)*float64(n)/float64(n-2))
	const t95 = 2.02 // of Student's distribution with 40 degrees of freedom, above the value for more
	return slope{my, b * float64(n-1), t95 * math.Sqrt(variance) * float64(n-1)}
}

func TestSlopeFindsGrowthInNoise(t *testing.T) {
	t.Parallel()
	noise := func(i int) float64 { return float64((i*7919)%101) - 50 }
	flat, steep := make([]float64, 60), make([]float64, 60)
	for i := range flat {
		flat[i], steep[i] = 1000+noise(i), 1000+noise(i)+3*float64(i)
	}
	if s := slopeOf(flat); math.Abs(s.growth) > s.within {
		t.Errorf("noise has the slope %+v, want an interval that contains zero", s)
	}
	if s := slopeOf(steep); s.growth-s.within <= 0 || math.Abs(s.growth-177) > 2*s.within {
		t.Errorf("a line that grows by 177 has the slope %+v", s)
	}
}
