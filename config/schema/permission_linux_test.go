package schema

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestPermissionNamesTheGroup(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "arcrawl.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := permitted(file); !strings.Contains(got, "permit the user") {
		t.Errorf("no group may read the file, and the remedy is %q", got)
	}
	id := strconv.Itoa(os.Getegid())
	if id == "0" {
		id = "1" // the remedy never names root
	}
	group, err := user.LookupGroupId(id)
	if err != nil {
		t.Skipf("this machine has no name for group %s, which the test needs: %v; add one to /etc/group", id, err)
	}
	gid, _ := strconv.Atoi(id)
	if err := os.Chown(file, -1, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if got := permitted(file); !strings.Contains(got, "usermod -aG "+group.Name+" USER") {
		t.Errorf("the group %s may read the file, and the remedy is %q", group.Name, got)
	}
}
