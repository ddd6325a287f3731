package sim

import (
	"math"
	"time"
)

// Spend finds the knob at which a policy makes the given number of requests, to half a percent if it can, and plays it
// there. A policy without a knob is played unchanged. The clairvoyant policy visits once for each version that can be
// captured, until the requests run out.
func Spend(p Policy, requests int, all []History) (knob float64, tallies []Tally) {
	switch {
	case p.Foresight:
		return 0, foresee(all, requests)
	case p.High <= p.Low:
		return 0, Play(p, 0, all)
	}
	low, high := math.Log(p.Low), math.Log(p.High)
	at, slope := (low+high)/2, -1.0
	want := math.Log(float64(max(requests, 1)))
	var lastAt, lastGot float64
	for try := range maxTries {
		knob = math.Exp(at)
		tallies = Play(p, knob, all)
		got := math.Log(float64(max(Sum(tallies).Requests, 1)))
		if math.Abs(got-want) < tolerance {
			break
		}
		if got > want {
			low = at
		} else {
			high = at
		}
		if try > 0 && at != lastAt {
			slope = math.Min((got-lastGot)/(at-lastAt), -0.2)
		}
		lastAt, lastGot = at, got
		if at += (want - got) / slope; at <= low || at >= high || try > maxTries/2 {
			at = (low + high) / 2
		}
	}
	return knob, tallies
}

const (
	maxTries  = 24
	tolerance = 0.005
)

// Clairvoyant returns the policy that knows every change, and captures as many versions as its requests allow.
func Clairvoyant() Policy { return Policy{Name: "clairvoyant", Foresight: true} }

// foresee visits each version as soon as it appears, at least MinWait apart. If the requests do not suffice, histories
// share them in proportion.
func foresee(all []History, requests int) []Tally {
	result := make([]Tally, len(all))
	total := 0
	for i, h := range all {
		t := &result[i]
		t.Versions = len(h.Changes)
		next := MinWait
		for k, after := range h.Changes {
			visit := max(after, next)
			if current := k+1 == len(h.Changes) || visit < h.Changes[k+1]; !current || visit > h.Watched {
				continue
			}
			t.Captured++
			t.Delay += visit - after
			next = visit + MinWait
		}
		t.Requests = t.Captured
		total += t.Requests
	}
	if total <= requests || total == 0 {
		return result
	}
	// The remainder is carried along, so that the sum is the number of requests.
	given, wanted := 0, 0
	for i := range result {
		t := &result[i]
		wanted += t.Requests
		now := int(float64(wanted) * float64(requests) / float64(total))
		t.Delay = portion(t.Delay, now-given, t.Requests)
		t.Requests, t.Captured, given = now-given, now-given, now
	}
	return result
}

func portion(d time.Duration, part, whole int) time.Duration {
	if whole == 0 {
		return 0
	}
	return time.Duration(float64(d) * float64(part) / float64(whole))
}
