// Package profile writes profiles of a whole process, for the benchmarks. Only binaries that were built with the tag
// profile do so.
package profile
