package golang_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
