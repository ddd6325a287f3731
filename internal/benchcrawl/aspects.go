package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// priceAspects prints the table of TestWhatAspectsCost, which is a test because it needs the inside of the crawler.
func priceAspects(rounds int, out io.Writer) error {
	const test = "^TestWhatAspectsCost$"
	cmd := exec.Command("go", "test", "-count=1", "-timeout=0", "-v", "-run", test, "github.com/arcrawl/arcrawl/crawler")
	cmd.Env = append(os.Environ(), "ARCRAWL_ASPECTS="+strconv.Itoa(rounds))
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var rest strings.Builder
	cmd.Stderr = &rest
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, "|") {
			fmt.Fprintln(out, line)
		} else {
			rest.WriteString(line + "\n")
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("price the aspects: %w\n%s", err, rest.String())
	}
	return nil
}
