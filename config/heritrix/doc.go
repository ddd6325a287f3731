// Package heritrix turns a job of Heritrix 3 or CrawlRSS into files of arcrawl: a main file, and a file for each host.
//
// What has a counterpart is converted: who answers for the crawl, politeness, limits, hops, seeds, expressions of URIs that are not
// wanted, sheets for hosts and domains, and the sites of CrawlRSS with their feeds and implied pages. Everything else
// that the job sets is listed with its line, so that nobody believes that it still holds. Values that Heritrix takes by default are not
// written down.
//
// Java's expressions are not all Go's: those that RE2 does not have are listed, and not converted.
package heritrix
