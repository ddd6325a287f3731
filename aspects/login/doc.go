// Package login decides which request a visit makes: its header fields, the cookies of its host, the conditions under
// which the server may answer that nothing changed, and the login that comes before the first page.
package login
