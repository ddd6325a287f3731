package curator

import _ "embed"

// openAPI describes the requests of the wing.
//
//go:embed openapi.json
var openAPI string
