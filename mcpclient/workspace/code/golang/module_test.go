package golang_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"replan/mcpclient/workspace/code/golang"
	"replan/mcpclient/workspace/code/source"
)

func TestReferencesFetchNothing(t *testing.T) {
	const private = "example.test/private v1.0.0"
	for name, files := range map[string]map[string]string{
		"missing module": {
			"go.mod": "module example.test/m\n\ngo 1.24\n\nrequire " + private + "\n",
			"go.sum": private + " h1:1p67kYwdtXjb0gL0BPiP1Av9wiZPo5A8z2cWkTZ+eyU=\n" + private + "/go.mod h1:1p67kYwdtXjb0gL0BPiP1Av9wiZPo5A8z2cWkTZ+eyU=\n",
		},
		"missing toolchain": {"go.mod": "module example.test/m\n\ngo 1.24\n\ntoolchain go1.999.0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				http.NotFound(w, nil)
			}))
			defer proxy.Close()
			dir := t.TempDir()
			files["m.go"] = "package m\n\nimport \"example.test/private\"\n\nvar X = private.X\n"
			for at, text := range files {
				if err := os.WriteFile(filepath.Join(dir, at), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p := golang.New(dir, append(os.Environ(),
				"GOPROXY="+proxy.URL, "GOTOOLCHAIN=auto", "GOFLAGS=", "GONOSUMDB=*", "GOSUMDB=off"))
			found, err := p.References(t.Context(), source.Place{Path: "m.go", Line: 5, Column: 5})
			notes := strings.Join(found.Notes, "\n")
			if err != nil {
				notes += err.Error()
			}
			if n := requests.Load(); n > 0 {
				t.Errorf("got %d requests, want none", n)
			}
			if name == "missing module" && !strings.Contains(notes, "modules are missing: run go mod download") {
				t.Errorf("got %q", notes)
			}
		})
	}
}

func TestReferencesStartNoCompilerOfC(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of the test are shell scripts")
	}
	dir, bin := t.TempDir(), t.TempDir()
	started := filepath.Join(bin, "started")
	for _, name := range []string{"gcc", "cc", "clang", "pkg-config"} {
		script := "#!/bin/sh\necho " + name + " >>" + started + "\nexit 1\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil { //nolint:gosec // it is started
			t.Fatal(err)
		}
	}
	for at, text := range map[string]string{
		"go.mod":                         "module example.test/m\n\ngo 1.24\n\nrequire example.test/v v0.0.0\n",
		"m.go":                           "package m\n\nimport \"example.test/v\"\n\nfunc X() int { return v.V() }\n",
		"vendor/modules.txt":             "# example.test/v v0.0.0\n## explicit\nexample.test/v\n",
		"vendor/example.test/v/v.go":     "package v\n\n// #cgo pkg-config: evil\n// int f(void) { return 1; }\nimport \"C\"\n\nfunc V() int { return int(C.f()) }\n",
		"vendor/example.test/v/other.go": "package v\n",
	} {
		at = filepath.Join(dir, filepath.FromSlash(at))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p := golang.New(dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "CGO_ENABLED=1", "GOCACHE="+t.TempDir()))
	_, err := p.References(t.Context(), source.Place{Path: "m.go", Line: 5, Column: 6})
	if ran, wrong := os.ReadFile(started); wrong == nil { //nolint:gosec // a file of the test
		t.Errorf("started %q (%v)", ran, err)
	}
}
