package access

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// TestNoChangeOfUsersOrTokensIsLost adds users and tokens at the same time to files that do not exist yet.
func TestNoChangeOfUsersOrTokensIsLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	users, tokens := filepath.Join(dir, "users"), filepath.Join(dir, "tokens")
	const n = 16
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := AddUser(users, fmt.Sprintf("user%d", i), Read, ""); err != nil {
				t.Error(err)
			}
			if _, err := Add(tokens, fmt.Sprintf("token%d", i), Read); err != nil {
				t.Error(err)
			}
			if i%2 == 0 {
				if err := RemoveUser(users, fmt.Sprintf("user%d", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	left, err := Users(users)
	if err != nil || len(left) != n/2 {
		t.Errorf("%d users are left, want %d: %v", len(left), n/2, err)
	}
	added, err := List(tokens)
	if err != nil || len(added) != n {
		t.Errorf("%d tokens, want %d: %v", len(added), n, err)
	}
	leftovers, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(leftovers) != 0 {
		t.Errorf("files that stay: %v, %v", leftovers, err)
	}
}
