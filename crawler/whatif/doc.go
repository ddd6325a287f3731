// Package whatif answers questions about a crawl without changing it: what a new configuration would change
// ([Compare]), what other naming rules would do to the known URIs ([NameChanges]), and which rule keeps a URI out
// ([Explain]).
package whatif
