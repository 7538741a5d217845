package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"replan/cli/config"
	"replan/mcpclient"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/code/lsp"
)

// errUntrusted says why a language server is not started.
var errUntrusted = errors.New("it starts in a trusted folder (gates.trusted_folders), or after you approve it on the screen")

// languages decides which language servers start, and offers to install that of Go.
type languages struct {
	section   lsp.Section
	workspace string
	trusted   bool            // the user trusts the workspace
	tools     *mcpclient.Pool // where the user is asked; nil until it is open, and without tools
	watcher   child.Watcher
	last      func(note string) // says something after the session
}

// ask has the user asked through these tools.
func (l *languages) ask(through *mcpclient.Pool) { l.tools = through }

// servers returns the language servers that may be asked about source code, nil for
// none. They start in a trusted folder, or after the user approves the program.
func (l *languages) servers() *lsp.Config {
	if !l.section.On() {
		return nil
	}
	return &lsp.Config{Commands: l.section.Commands(), Trusted: l.trusted, Allow: func(_ context.Context, p lsp.Program, path string) error {
		if l.trusted || l.mayStart(p, path) {
			return nil
		}
		return errUntrusted
	}}
}

// mayStart reports whether the user allowed a language server here, by a yes to
// its start or to its installation.
func (l *languages) mayStart(p lsp.Program, path string) bool {
	if l.tools == nil {
		return false
	}
	if offer, ok := l.installation(p); ok && slices.Equal(p.Argv, []string{"gopls"}) && l.tools.Accepted(offer) {
		return true
	}
	return l.tools.MayStart(mcpclient.Program{
		Name: p.Name, Command: path, Args: p.Argv[1:], Question: "Start the language server " + p.Name + " for this project?",
		Why: "it runs on this machine and reads the project's code; a yes is remembered for this folder",
	})
}

// offer offers to install gopls. It does so on the screen alone: the installation takes
// longer than most runs without one.
func (l *languages) offer(p lsp.Program) {
	offer, ok := l.installation(p)
	if !ok || l.tools == nil {
		return
	}
	l.tools.Offer(offer, func(ctx context.Context) error {
		l.tools.Note("installing " + p.Name)
		err := l.install(ctx, offer.Command)
		switch {
		case err == nil:
			l.tools.Note(p.Name + " is installed")
		case ctx.Err() != nil:
			l.last("the installation of " + p.Name + " was stopped: replan will offer it again")
		default:
			l.tools.Note(p.Name + " was not installed: " + err.Error() + "; replan will offer it again at the next start")
		}
		return err
	})
}

// installation returns what installs a language server: the go command for gopls.
// A yes to it covers starting the server in this folder.
func (l *languages) installation(p lsp.Program) (mcpclient.Program, bool) {
	path, err := exec.LookPath("go")
	if p.Language != "go" || err != nil || config.Within(filepath.Dir(path), l.workspace) {
		return mcpclient.Program{}, false
	}
	return mcpclient.Program{
		Name: p.Name, Command: path, Args: []string{"install", lsp.Gopls}, Question: "Install gopls, the language server of Go, and start it for this project?",
		Why: "Go downloads and builds it; from the next run on it finds names in Go code by type and checks files after each change. A no is remembered",
	}, true
}

// install runs go install for gopls until ctx ends.
func (l *languages) install(ctx context.Context, path string) error {
	var output bytes.Buffer
	cmd := exec.Command(path, "install", lsp.Gopls) // #nosec G204 -- the go command, outside the workspace, after a yes
	cmd.Dir, cmd.Env = os.TempDir(), child.Environ(os.Environ(), nil)
	cmd.Stderr = &output
	group, exited, err := child.Start(cmd, nil, l.watcher) // it installs outside the workspace, after a yes
	if err != nil {
		return err
	}
	defer child.Ended(group, l.watcher)
	defer context.AfterFunc(ctx, func() { _ = child.Kill(cmd) })()
	err = <-exited
	if text := strings.TrimSpace(output.String()); err != nil && text != "" {
		return errors.New(text[strings.LastIndexByte(text, '\n')+1:]) // go names the cause last
	}
	return err
}
