package demosite

import "time"

// rhythm is a sequence of moments at nearly regular intervals. Moment k, counted from 1, is k × every after the
// beginning plus a pseudo-random part of wobble. Moments are whole seconds. wobble is less than every, so that the
// moments stay in order and can be counted without listing them.
type rhythm struct {
	every, wobble time.Duration
	salt          uint64 // makes rhythms with the same numbers differ
}

// moment returns the time of change k since the beginning of the site, which is moment 0.
func (r rhythm) moment(k int) time.Duration {
	if k <= 0 {
		return 0
	}
	late := time.Duration(0)
	if seconds := uint64(r.wobble / time.Second); seconds > 0 {
		late = time.Duration(mix(r.salt, uint64(k))%seconds) * time.Second
	}
	return time.Duration(k)*r.every + late
}

// count returns the number of moments up to an age of the site.
func (r rhythm) count(age time.Duration) int {
	k := int(age / r.every)
	if k > 0 && r.moment(k) > age {
		k--
	}
	return max(k, 0)
}

// mix makes a pseudo-random number from two numbers (the finisher of SplitMix64). The content of the site depends on
// its values, so it is written out here and not taken from a library that may change.
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
