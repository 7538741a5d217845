package doctor

import (
	"context"

	"replan/internal/untrusted"
	"replan/mcpclient/box"
)

// Isolation reports what this kernel has for --isolate. wanted says whether the
// settings isolate programs, and refused why they cannot be.
func Isolation(wanted bool, refused error) func(context.Context) []Check {
	return func(context.Context) []Check {
		check := Check{Subject: "Isolation", Name: "--isolate", State: OK}
		detail, missing, err := box.Description()
		if refused != nil {
			err = refused
		}
		switch {
		case err != nil && wanted:
			check.State, check.Detail, check.Fix = Failed, sentence(err), "leave out --isolate and set enabled = false in [isolate]"
		case err != nil:
			check.State, check.Detail = Off, sentence(err)
		default:
			check.Detail = untrusted.Text(detail)
		}
		checks := []Check{check}
		for _, gap := range missing {
			checks = append(checks, Check{check.Subject, check.Name, Warning, untrusted.Text(gap), ""})
		}
		return checks
	}
}
