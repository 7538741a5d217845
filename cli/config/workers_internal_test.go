package config

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestFlagAndEnvironmentOverrideTheConfiguredDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		args              []string
		environment, file string
		want, source      string
	}{
		"nothing":              {source: fromDefault},
		"section":              {file: "sqlite:a", want: "sqlite:a", source: fromConfiguration},
		"environment":          {file: "sqlite:a", environment: "sqlite:b", want: "sqlite:b", source: fromEnvironment},
		"flag":                 {args: []string{"--on", "sqlite:c"}, environment: "sqlite:b", want: "sqlite:c", source: "flag --on"},
		"empty flag":           {args: []string{"--on", ""}, environment: "sqlite:b", source: "flag --on"},
		"password is not told": {environment: "postgres://ann:tiger@db/runs", want: "postgres://ann:tiger@db/runs", source: fromEnvironment},
	} {
		w := Workers{}
		f := pflag.NewFlagSet("replan", pflag.ContinueOnError)
		w.register(f)
		if err := f.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		from := sources{flags: f, getenv: func(string) string { return c.environment }, file: file{Distributed: workersSection{On: c.file}}}
		if err := w.read(from); err != nil || w.On != c.want {
			t.Errorf("%s: got %q, %v", name, w.On, err)
		}
		if s := w.report(from)[0]; s.Source != c.source || strings.Contains(s.Value, "tiger") {
			t.Errorf("%s: got the setting %+v", name, s)
		}
	}
}
