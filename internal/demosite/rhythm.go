package demosite

import "time"

// rhythm is a row of moments that come about every so often: the k-th, from 1, is k × every after the beginning plus a
// part of wobble that looks like chance. Moments are whole seconds, and wobble is less than every, so that they stay in
// order and can be counted without listing them.
type rhythm struct {
	every, wobble time.Duration
	salt          uint64 // tells rhythms with the same numbers apart
}

// moment is when the k-th change comes, counted from the beginning of the site. The beginning itself is moment 0.
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

// count is how many moments have come when the site is that old.
func (r rhythm) count(age time.Duration) int {
	k := int(age / r.every)
	if k > 0 && r.moment(k) > age {
		k--
	}
	return max(k, 0)
}

// mix makes a number that looks like chance out of two that do not (the finisher of SplitMix64). Its values are part of
// what the site says, so it is written out here rather than taken from a library that may change.
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
