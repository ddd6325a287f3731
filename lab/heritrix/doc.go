// Package heritrix converts a job of Heritrix 3 or CrawlRSS to configuration files: a main file, and a file for each
// host.
//
// It converts everything with a counterpart: operator, politeness, limits, hops, seeds, expressions of unwanted URIs,
// sheets for hosts and domains, and the sites of CrawlRSS with their feeds and implied pages. Everything else that the
// job sets is listed with its line, so that nobody relies on it. Defaults of Heritrix are not written.
//
// RE2 does not support all regular expressions of Java. Unsupported ones are listed and not converted.
package heritrix
