package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"replan/internal/lazyregexp"
)

// Variables in the text of an entry: ${NAME}, ${NAME:-default}, ${env:NAME},
// ${workspaceFolder} and the like, as editors write them.
var (
	reference = lazyregexp.New(`\$\{(?:(env|input|command|config|file):)?([A-Za-z_][A-Za-z0-9_.-]*|/)(:-[^}]*)?\}`)
	braces    = lazyregexp.New(`\{(env|file):([^{}]+)\}`) // opencode's; its variables are no part of ${…}
)

// expansion expands variables in text and keeps the first error.
type expansion struct {
	lookup  func(string) (string, bool)
	folder  string // of ${workspaceFolder}
	braces  bool   // {env:NAME} is a variable too
	project bool   // the text is of a project's file
	err     error
}

func (x *expansion) text(s string) string {
	s = reference.ReplaceAllStringFunc(s, x.reference)
	if !x.braces {
		return s
	}
	return braces.ReplaceAllStringFunc(s, func(ref string) string {
		parts := braces.FindStringSubmatch(ref)
		if parts[1] == "file" {
			x.fail(fmt.Errorf("%s is not supported; write {env:NAME}, and set that variable", ref))
			return ref
		}
		return x.variable(parts[2], "", "")
	})
}

func (x *expansion) reference(ref string) string {
	parts := reference.FindStringSubmatch(ref)
	kind, name, fallback := parts[1], parts[2], parts[3]
	switch kind {
	case "env":
		return x.variable(name, fallback, "env:")
	case "input":
		x.fail(fmt.Errorf("asks for the input %q, which only VS Code can ask for; write ${env:NAME} in place of %s, and set that variable", name, ref))
		return ref
	case "command", "config", "file":
		x.fail(fmt.Errorf("%s is a variable of editors that is not supported; write its value, or ${env:NAME}", ref))
		return ref
	}
	switch name {
	case "workspaceFolder", "workspaceRoot":
		return x.folder
	case "workspaceFolderBasename":
		return filepath.Base(x.folder)
	case "pathSeparator", "/":
		return string(filepath.Separator)
	case "userHome":
		home, err := os.UserHomeDir()
		if err != nil {
			x.fail(fmt.Errorf("%s is not known: %w", ref, err))
		}
		return home
	}
	if strings.ContainsAny(name, ".-") {
		return ref // no name of a variable
	}
	return x.variable(name, fallback, "")
}

// variable returns the value of an environment variable.
func (x *expansion) variable(name, fallback, prefix string) string {
	value, set := x.lookup(name)
	fallback, given := strings.CutPrefix(fallback, ":-")
	switch {
	case given && value == "":
		return fallback
	case !set && (x.braces && prefix == ""):
		x.fail(fmt.Errorf("the environment variable %s is not set; set it", name))
	case !set:
		x.fail(fmt.Errorf("the environment variable %s is not set; set it, or write ${%s%s:-default}", name, prefix, name))
	}
	return value
}

func (x *expansion) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

func (x *expansion) list(in []string) []string {
	var out []string
	for _, text := range in {
		out = append(out, x.text(text))
	}
	return out
}

func (x *expansion) table(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for name, value := range in {
		out[name] = x.text(value)
	}
	return out
}

// Unsupported returns an error if the server has a variable that no environment can set,
// such as the ${input:NAME} of VS Code. Such a server never starts.
func (s Server) Unsupported() error {
	x := expansion{lookup: func(string) (string, bool) { return "set", true }}
	_, err := x.server(s)
	return err
}

// login expands a text of "oauth". A project's file must not choose which secret of the
// environment a login sends.
func (x *expansion) login(s string) string {
	if !x.project {
		return x.text(s)
	}
	ref := reference.FindString(s)
	if ref == "" && x.braces {
		ref = braces.FindString(s)
	}
	if ref != "" {
		x.fail(fmt.Errorf(`"oauth" has the variable %s, and a project's file may have none there; move the server into your own mcp.json`, ref))
	}
	return s
}

// server returns a server with its variables expanded.
func (x *expansion) server(s Server) (Server, error) {
	s.Command, s.Dir, s.URL, s.HeadersHelper = x.text(s.Command), x.text(s.Dir), x.text(s.URL), x.text(s.HeadersHelper)
	s.Args, s.Env, s.Headers = x.list(s.Args), x.table(s.Env), x.table(s.Headers)
	if s.OAuth != nil {
		o := *s.OAuth
		o.ClientID, o.ClientSecret = x.login(o.ClientID), x.login(o.ClientSecret)
		s.OAuth = &o
	}
	return s, x.err
}
