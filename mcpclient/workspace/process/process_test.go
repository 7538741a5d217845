package process_test

import (
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestMain(m *testing.M) { workspacetest.Main(m) }

func TestRefusedCommandsSayHowToWriteThem(t *testing.T) {
	b := workspacetest.New(t, workspace.Config{})
	for _, c := range []struct {
		argv  []string
		parts []string
	}{
		{[]string{"go version"}, []string{`"go version" is several`, "shell"}},
		{[]string{"ls", "|", "wc"}, []string{"no shell", `pass shell: "ls | wc"`}},
		{[]string{"go", "vet", "&&", "go", "test"}, []string{"pass shell"}},
		{[]string{"cd", "docs"}, []string{"cd is no program", "dir"}},
	} {
		b.Refused(t, "proc.run", workspacetest.Args{"argv": c.argv}, c.parts...)
	}
	b.Refused(t, "proc.run", workspacetest.Args{"argv": []string{"true"}, "timeout": "soon"}, "90s or 5m")
	b.Must(t, "proc.run", workspacetest.Args{"argv": []string{"true"}, "timeout": "60"})
}
