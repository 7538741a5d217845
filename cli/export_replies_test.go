package cli

import (
	"context"

	"replan/cli/fit"
)

// Attempt carries out a job of replan fit against the server at host, in a session of its
// own that keeps its files in home.
func Attempt(ctx context.Context, host, home string, job fit.Job) (fit.Outcome, error) {
	o := &options{io: IO{
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return job.Folder, nil },
	}}
	flags := newRoot(o).PersistentFlags()
	o.DataDir = home // after the flag's declaration has set the default
	if err := o.complete(flags); err != nil {
		return fit.Outcome{}, err
	}
	o.Host = host
	return o.attempt(ctx, home, job)
}
