// Package stats counts what lines of a crawl log say: what a visit adds to the count of its day, and durations, which a
// [Histogram] has in classes of at most six percent.
package stats
