package api

// Me says who sends a request, and what the caller may do.
type Me struct {
	Name string `json:"name"` // of the user or token; "" if it is not known
	Way  string `json:"way"`  // "socket", "token", "session", "proxy", or "node": through another node
	Role string `json:"role"` // "read", "curate" or "operate"
}

// Users lists who may use the dashboard and the API. It has no secrets.
type Users struct {
	File   string      `json:"file"`   // of the users
	Users  []UserName  `json:"users"`  // people
	Tokens []TokenName `json:"tokens"` // of programs
}

// UserName is a user without the password.
type UserName struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Password bool   `json:"password"` // false: only a proxy can name the user
}

// TokenName is a token without its secret.
type TokenName struct {
	Name string `json:"name"`
	Role string `json:"role"`
}
