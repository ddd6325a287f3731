package api

// Me says who sends a request, and what the caller may do.
type Me struct {
	Name string `json:"name"` // of the user or token; "" if it is not known
	Way  string `json:"way"`  // "socket", "token", "session" or "proxy"
	Role string `json:"role"` // "read", "curate" or "operate"
}
