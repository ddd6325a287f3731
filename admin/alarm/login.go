package alarm

import (
	"fmt"

	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/internal/human"
)

// LoginTroubles returns the troubles of hosts that the crawler cannot log in to.
func LoginTroubles(failing []login.LoginFailure) []Trouble {
	all := make([]Trouble, 0, len(failing))
	for _, f := range failing {
		all = append(all, Trouble{Kind: Login, About: string(f.Host), Text: fmt.Sprintf(
			"the login to %s fails; the host rests and is tried again at growing intervals; the reason is: %s",
			human.Host(string(f.Host)), f.Why,
		)})
	}
	return all
}
