package changes

import (
	"embed"
	"encoding/json"
)

//go:embed testdata/stories.json
var files embed.FS

// stories are in several languages and scripts.
var stories = readStories()

func readStories() (all []story) {
	text, err := files.ReadFile("testdata/stories.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic("arcrawl/changes: read the stories: " + err.Error())
	}
	return all
}
