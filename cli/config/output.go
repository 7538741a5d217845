package config

import (
	"fmt"

	"github.com/spf13/pflag"
)

// Output formats.
const (
	OutputText = "text"
	OutputJSON = "json"
)

// Output says in which form a command prints.
type Output struct {
	Format string // OutputText or OutputJSON
	Plain  bool   // lines instead of the full screen
}

// register declares --output, whose help depends on where it is typed.
func (o *Output) register(f *pflag.FlagSet, about string) {
	f.StringVar(&o.Format, "output", OutputText, about)
}

// check rejects an unknown format, and falls back to text for the error.
func (o *Output) check() error {
	if o.Format == OutputText || o.Format == OutputJSON {
		return nil
	}
	given := o.Format
	o.Format = OutputText
	return fmt.Errorf("--output takes text or json, not %q", given)
}
