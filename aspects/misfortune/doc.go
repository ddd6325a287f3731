// Package misfortune says what it means that a visit did not bring its page.
//
// The connection failed, the server failed or refused, the body was cut, a wall or a challenge came instead of the
// page, a redirect leads back to where it came from, the page is gone, or the document could not be processed. None of
// that erases what was learned about a URI, and none exiles a URI permanently.
package misfortune
