//go:build !unix

package frontier

// lockDir leaves it to the store to find out whether another process has the folder.
func lockDir(string) (unlock func() error, taken bool, err error) {
	return func() error { return nil }, false, nil
}
