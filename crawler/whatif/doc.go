// Package whatif answers questions about a crawl without changing it: what a new configuration would change
// ([Compare]), what other naming rules would do to the known URIs ([NameChanges]), which rule keeps a URI out
// ([Explain]), and what a request would get ([Trial]). Nothing is archived, logged or stored.
package whatif
