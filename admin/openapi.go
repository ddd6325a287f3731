package admin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// openAPI is the OpenAPI document of the API without wings.
//
//go:embed openapi.json
var openAPI string

// document holds what the document of a wing adds to the one of the core.
type document struct {
	Paths      map[string]any `json:"paths"`
	Components struct {
		Schemas map[string]any `json:"schemas"`
	} `json:"components"`
}

// OpenAPI returns the OpenAPI document of the API with what wings add.
func OpenAPI(added ...Extension) ([]byte, error) {
	var whole map[string]any
	if err := json.Unmarshal([]byte(openAPI), &whole); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	paths, _ := whole["paths"].(map[string]any)
	components, _ := whole["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for _, a := range added {
		if a.OpenAPI == "" {
			continue
		}
		var more document
		if err := json.Unmarshal([]byte(a.OpenAPI), &more); err != nil {
			return nil, fmt.Errorf("read the OpenAPI document of a wing: %w", err)
		}
		for path, methods := range more.Paths { // two wings may have methods of one path
			if known, ok := paths[path].(map[string]any); ok {
				own, _ := methods.(map[string]any)
				maps.Copy(known, own)
			} else {
				paths[path] = methods
			}
		}
		maps.Copy(schemas, more.Components.Schemas)
	}
	return json.MarshalIndent(whole, "", "  ")
}

// serveOpenAPI serves the OpenAPI document.
func (w *Window) serveOpenAPI(to http.ResponseWriter, from *http.Request) {
	text, err := OpenAPI(w.o.Extensions...)
	if err != nil {
		w.Refuse(to, from, err)
		return
	}
	to.Header().Set("Content-Type", "application/json")
	_, _ = to.Write(append(text, '\n'))
}
