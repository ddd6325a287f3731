//go:build !profile

package main

// beginProfile does nothing, because the binary was built without the tag profile.
func beginProfile() (end func()) { return func() {} }
