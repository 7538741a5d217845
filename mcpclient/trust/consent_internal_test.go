package trust

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"replan/mcpclient/config"
)

// A permission covers all that a process or another machine gets, also one of version 0.
func TestPermissionEndsWithEachChangeThatLeavesThisProgram(t *testing.T) {
	t.Parallel()
	stays := []string{"IncludeTools", "ExcludeTools", "Source", "Timeout", "StartTimeout", "Disabled", "Required", "Trust", "Parallel", "Problem", "Notes", "Protocol"}
	check := func(field string, before, after config.Server) {
		t.Helper()
		if before.Source, after.Source = config.SourceProject, config.SourceProject; fingerprint("", before) == fingerprint("", after) {
			t.Errorf("%s is no part of the fingerprint", field)
		}
		if field != "Name" && before.AsWritten().Equal(after.AsWritten()) {
			t.Errorf("%s is not shown in the question", field)
		}
		if digest(before) == digest(after) {
			t.Errorf("%s is no part of the digest", field)
		}
	}
	server := config.Server{Name: "team", Command: "serve"}
	for field := range reflect.TypeFor[config.Server]().Fields() {
		if !field.IsExported() || slices.Contains(stays, field.Name) || field.Name == "OAuth" {
			continue
		}
		changed := server
		alter(t, reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index))
		check(field.Name, server, changed)
	}
	server.OAuth = &config.OAuth{}
	for field := range reflect.TypeFor[config.OAuth]().Fields() {
		changed := server
		changed.OAuth = &config.OAuth{}
		alter(t, reflect.ValueOf(changed.OAuth).Elem().FieldByIndex(field.Index))
		check("OAuth."+field.Name, server, changed)
	}
}

// alter gives a field another value.
func alter(t *testing.T, field reflect.Value) {
	t.Helper()
	switch to := field.Addr().Interface().(type) {
	case *string:
		*to += "x"
	case *bool:
		*to = !*to
	case *int:
		*to++
	case *[]string:
		*to = append(*to, "x")
	case *map[string]string:
		*to = map[string]string{"x": "y"}
	default:
		t.Fatalf("no other value of %s", field.Type())
	}
}

func TestPermissionEndsWhenAProgramOfTheWorkspaceChanges(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, c := range map[string]struct {
		server config.Server
		file   string
		counts bool
	}{
		"command":                       {config.Server{Command: "./serve"}, "serve", true},
		"command in a folder":           {config.Server{Command: "./serve", Dir: "tools"}, "tools/serve", true},
		"script of an interpreter":      {config.Server{Command: "node", Args: []string{"--quiet", "server.js"}}, "server.js", true},
		"script in an option":           {config.Server{Command: "node", Args: []string{"--import=./hook.mjs"}}, "hook.mjs", true},
		"data":                          {config.Server{Command: "sqlite", Args: []string{"data.db"}}, "data.db", false},
		"program that is looked up":     {config.Server{Command: "node"}, "node", false},
		"another file of the workspace": {config.Server{Command: "./serve"}, "other.js", false},
	} {
		t.Run(name, func(t *testing.T) {
			write := func(text string) {
				at := filepath.Join(folder, filepath.FromSlash(c.file))
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			write("harmless")
			allowed := Answers{}.With(folder, c.server, true)
			write("evil")
			if allowed.Allow(folder, c.server) == c.counts {
				t.Errorf("allowed after the change: %t", c.counts)
			}
			write("harmless")
			if !allowed.Allow(folder, c.server) {
				t.Error("the same program needs permission again")
			}
		})
	}
}
