package uri

import (
	"errors"
	"net/url"
)

// WithoutURL returns the cause of an error of net/http without the URL that it names. The address of a service of the
// operator may contain a secret, which does not belong into a log.
func WithoutURL(err error) error {
	if named := (*url.Error)(nil); errors.As(err, &named) {
		return named.Err
	}
	return err
}
