package main

import (
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// checkHostFiles checks the host files for a curator who may not read the main file. It returns their folder.
func checkHostFiles(path string) (result checkResult, dir string, err error) {
	dir, texts, err := cli.HostFiles(path)
	if err != nil {
		return result, "", err
	}
	c, err := config.LoadTexts(path, texts)
	result, err = resultOf(c, err, func(string) bool { return true })
	return result, dir, err
}
