// Package rate estimates how often a URI changes, and when the next visit is worth its request. It is arithmetic only:
// no files, no clock, no configuration. The same visits always give the same bits.
//
// A visit says whether the URI changed since the visit before, and sometimes when or how often it changed. An
// [Estimator] learns from each visit. A [Forecast] says how many changes to expect after it. Between visits the state
// is kept as a [Memory] of at most 256 bytes.
//
// # Beliefs
//
// A belief is a Gamma distribution of a rate of change. Its mean is shape ÷ exposure. Exposure is time in days, with
// each hour counted by its weight. A visit after an exposure e changes a belief of shape a and exposure b like this:
//
//   - no change: b grows by e, which is exact (the Gamma distribution is the conjugate prior of a Poisson process);
//   - a change: at least one event fell into e. The new belief has the mean and the variance of the rate under that
//     condition;
//   - n changes: a grows by n, b by e, which is exact;
//   - the last change was an exposure s ago: a grows by 1, b by s, which is exact for the time since the change.
//
// An estimator holds twelve beliefs, of which it uses up to eight at a time:
//
//   - five that forget in 72 minutes, half a day, 4 days, 32 days and never;
//   - two sets of three that forget in 6 and in 60 days. One of a set applies after a change, one after one quiet
//     visit, one after more. They separate pages that change in bursts from pages that change at even intervals;
//   - one that counts in the logarithm of the URI's age, for a URI whose birth is known, as articles settle with age.
//
// Each belief has a weight: the product of the probabilities that it predicted for the outcomes of visits. The weight
// is never less than e^−6 of the best one, so that a belief can come back when the page's habits change.
//
// # Hours
//
// A clock learns how much the hours of the day, the days of the week and the minutes of the hour differ. All beliefs
// except the one of the age count time by it.
//
// # Forecasts
//
// The wait follows from the weighted mean of the rates. The reported expected changes and missed share follow from
// the weighted mean of the probabilities of no change during the wait. Where nearly every visit finds a change, some
// beliefs allow any high rate. They dominate the mean, but not the probability.
//
// The wanted number of changes follows from the capture target as if changes came at random. It is raised for URIs
// that change at regular intervals, because little is lost there, and lowered for URIs that change in bursts.
//
// # Probes
//
// How many versions a visit hides depends on how the changes are distributed, and a URI's visits hardly show it. So a
// crawl makes [Probes]: visits at a random time before the URI is due. They say by which factor the wanted number of
// changes is off, for all URIs together.
//
// # Relatives
//
// A new URI begins with the estimates of the host's other URIs of its [Kind], see [Relatives]. Their [Rhythm] holds
// the hours and days at which they change. It replaces the clock of the URI until that has learned enough, and has
// the weight of eight changes in each hour and on each day.
//
// # Sources
//
// The irregular estimate of package sim, and VersionsFound of package evaluators, follow J. Cho and H. Garcia-Molina,
// "Estimating frequency of change", ACM Transactions on Internet Technology 3 (2003). [Captured] and [UnchangedFactor]
// are derived in their comments. Weighting beliefs by what they predicted is Bayesian model averaging. The constants
// were found on recorded change histories of news pages, feeds, lists, live data, terms of service and articles: by a
// random search on one half of the resources, checked on the other. docs/completeness.md has the figures.
//
// # Capacity
//
// The capacity of a host compares the visits that the URIs of a host ask for with the visits that politeness allows.
//
// A [Budget] computes the factor that stretches the waits of a host over its budget. With this factor the same number
// of changes is expected at each visit, in proportion to the capture target of each URI. That captures the most
// versions: the factor is the Lagrange multiplier of the host's slots, expressed in waits.
//
// [Assess] says which capture targets a host can meet, and what it needs to meet the others. It uses the [Rates] at
// which the URIs are expected to change.
//
// If a host is over its budget, the most valuable visit comes first. The value of a visit is 1 − (1+x)·e^−x if x
// changes are expected since the last one. It grows with x, so the frontier orders by x itself.
package rate
