package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// TestContainerChecksItsHealth runs the command of the container's HEALTHCHECK without a daemon, and with a server that
// answers as a daemon does.
func TestContainerChecksItsHealth(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../packaging/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)HEALTHCHECK.*?CMD (\[.*?\])`).FindSubmatch(text)
	if list == nil {
		t.Fatal("the Containerfile has no HEALTHCHECK")
	}
	var args []string
	if err := json.Unmarshal(list[1], &args); err != nil || args[0] != "/usr/bin/arcrawl" {
		t.Fatalf("the command is %q, %v", args, err)
	}
	path, dir := daemontest.Configure(t, "")
	args[slices.Index(args, "/data/arcrawl.toml")] = path
	if code, _, errs := command(args[1:]...); code != cli.ExitBusy {
		t.Errorf("without a daemon: exit code %d, want %d\n%s", code, cli.ExitBusy, errs)
	}
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o750); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "state", "admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	status := http.StatusOK
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("the command asks for %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	server.Listener = l
	server.Start()
	defer server.Close()
	if code, out, errs := command(args[1:]...); code != cli.ExitOK || out != "alive\n" {
		t.Errorf("with a daemon: exit code %d, %q\n%s", code, out, errs)
	}
	status = http.StatusInternalServerError
	if code, _, _ := command(args[1:]...); code == cli.ExitOK {
		t.Error("with a daemon that is not healthy: exit code 0")
	}
}

// TestContainerLeavesOutWhatItDoesNotNeed checks that .dockerignore names large and secret files, and no file of the
// build.
func TestContainerLeavesOutWhatItDoesNotNeed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	patterns := strings.Split(string(text), "\n")
	for _, want := range []string{".git", "bin", "dist", "**/node_modules", "*.token", "*.pem"} {
		if !slices.Contains(patterns, want) {
			t.Errorf(".dockerignore does not name %s", want)
		}
	}
	// Files that are embedded into the program.
	for _, needed := range []string{"go.mod", "cmd", "admin", "internal", "crawllog"} {
		if slices.Contains(patterns, needed) {
			t.Errorf(".dockerignore names %s, which the build needs", needed)
		}
	}
}

// TestContainerImagesArePinned checks that each image is named with its exact version or digest.
func TestContainerImagesArePinned(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../packaging/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	images := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(text), -1)
	if len(images) == 0 {
		t.Fatal("no image was found")
	}
	pinned := regexp.MustCompile(`^(scratch|.+:\d+\.\d+\.\d+\S*|.+@sha256:[0-9a-f]{64})$`)
	for _, image := range images {
		if !pinned.MatchString(image[1]) {
			t.Errorf("%s is not pinned to an exact version or digest", image[1])
		}
	}
}
