package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/config"
)

// SiteFlags adds the flags that choose hosts by what curators wrote about them.
func SiteFlags(cmd *cobra.Command, f *config.Filter) {
	cmd.Flags().StringVar(&f.Label, "label", "", "choose hosts with this label")
	cmd.Flags().StringVar(&f.Collection, "collection", "", "choose hosts of this collection")
	cmd.Flags().StringVar(&f.Owner, "owner", "", "choose hosts of this owner")
}

// ChosenHosts returns the hosts that a filter selects, as patterns. An unknown label, collection or owner is an error.
func ChosenHosts(errs io.Writer, path string, f config.Filter) ([]string, error) {
	c, err := ReadConfig(errs, path)
	if err != nil {
		return nil, err
	}
	patterns, err := c.Sites().Choose(f)
	if err != nil {
		return nil, Usage(err)
	}
	return patterns, nil
}

// Once returns a text flag that may be given once. Its value is stored in text.
func Once(text *string) pflag.Value { return &onceText{text: text} }

// onceText is a text flag that may be given once.
type onceText struct {
	text  *string
	given bool
}

// Set stores the text, and returns an error the second time.
func (o *onceText) Set(s string) error {
	if o.given {
		return errors.New("it is given twice; run the command once for each")
	}
	*o.text, o.given = s, true
	return nil
}

// String returns the text.
func (o *onceText) String() string {
	if o.text == nil {
		return ""
	}
	return *o.text
}

// Type names the type of the flag in the help.
func (o *onceText) Type() string { return "string" }
