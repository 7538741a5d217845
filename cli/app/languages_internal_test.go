package app

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
)

func TestYesToTheInstallationOfGoplsCoversItsStart(t *testing.T) {
	l := languages{workspace: t.TempDir()}
	cfg := mcpclient.Config{Dir: l.workspace, TrustFile: filepath.Join(t.TempDir(), "trust.json")}
	open := func() *mcpclient.Pool {
		tools, err := mcpclient.NewPool(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return tools
	}
	gopls := lsp.Program{Language: "go", Name: "gopls", Argv: []string{"gopls"}}
	offer, ok := l.installation(gopls)
	if !ok {
		t.Skip("no go command")
	}
	tools := open()
	tools.Offer(offer, func(context.Context) error { return nil })
	err := errors.Join(tools.Answer(t.Context(), tools.Pending(), true), tools.Close())
	cfg.Trust = mcpclient.TrustNone
	tools = open()
	l.tools = tools
	if !l.mayStart(gopls, "/home/me/go/bin/gopls") {
		t.Error("gopls may not start after the yes to its installation")
	}
	gopls.Argv = []string{"/opt/other"}
	if l.mayStart(gopls, "/opt/other") {
		t.Error("the yes counts for another program")
	}
	if err = errors.Join(err, tools.Close()); err != nil {
		t.Error(err)
	}
}
