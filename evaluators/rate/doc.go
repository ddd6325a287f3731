// Package rate estimates how often a URI changes.
package rate
