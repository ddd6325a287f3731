//go:build !linux

package main

import "runtime"

// linuxFaultKinds returns the kinds of faults that need Linux, which do not run here.
func linuxFaultKinds() []*faultKind {
	return []*faultKind{{"linux", "faults of system calls, disks and clocks", 1, func(t *trial, _ int) {
		t.Skipf("they happen on Linux only, and this is %s", runtime.GOOS)
	}}}
}
