//go:build !profile

package main

// profile does nothing. Only binaries that were built with the tag profile write profiles.
func profile() func() { return func() {} }
