//go:build !unix

package depend

import "os"

// lockFile does nothing where there is no flock: there only one process may write the index.
func lockFile(*os.File) error { return nil }
