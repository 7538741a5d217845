package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/policy"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/config"
	"replan/cli/demo"
	"replan/cli/exit"
	"replan/mcpclient/workspace/code/lsp"
	"replan/planning/prompt"
	"replan/tui"
)

// demoPace is the delay between two chunks of the scripted model on the full
// screen, about the speed of a small model on a good machine.
const demoPace = 12 * time.Millisecond

func newDemo(o *options) *cobra.Command {
	var keep bool
	act := 1
	command := &cobra.Command{
		Use:   "demo",
		Short: "Play a whole session with nothing installed",
		Long: "demo plays a whole session in a folder of its own. The model's words are a script, served over\n" +
			"Ollama's own protocol; the project, the tools, the failing test, the diff and the gates are real.\n" +
			"In its second act a real small model plays, whose replies were recorded.\n" +
			"Without a terminal it approves its own gates. Its folder and its run are deleted at the end.",
		Example: "  replan demo\n  replan demo --act 2\n  replan demo --plain --approve all\n  replan demo --output json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if act != 1 && act != 2 {
				return exit.Usage("--act is 1 or 2, not %d", act)
			}
			return o.demo(cmd.Context(), act, keep)
		},
	}
	command.Flags().BoolVar(&keep, "keep", false, "keep the demo's folder with its run, and print its path")
	command.Flags().IntVar(&act, "act", act, "begin with act `N`: 1 is a script, 2 a real model that was recorded")
	return command
}

// demo unpacks the project, starts the scripted model and runs a session from
// an act on.
func (o *options) demo(ctx context.Context, act int, keep bool) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return exit.Usage("the demo fixes a Go project and needs the go command: install Go from https://go.dev/dl")
	}
	if _, err := os.UserCacheDir(); err != nil && o.io.Getenv("GOCACHE") == "" {
		return exit.Usage("the demo runs go test, which needs a folder for its cache: set HOME or GOCACHE")
	}
	folder, err := os.MkdirTemp("", "replan-demo-")
	if err != nil {
		return exit.Wrap("create a folder for the demo; set TMPDIR to a writable folder", err)
	}
	defer func() {
		if keep {
			_, _ = fmt.Fprintf(o.io.Err, "replan: the demo ran in %s; replan runs --data-dir %s lists its run\n", folder, filepath.Join(folder, "home"))
			return
		}
		err = errors.Join(err, exit.Wrap("remove the demo's folder", os.RemoveAll(folder)))
	}()
	if o.Workspace, err = prepareDemo(folder, "pages"); err != nil {
		return exit.Wrap("prepare the demo", err)
	}
	pace, next := demoPace, demo.Next(o.Keys.Name, keep)
	if !o.screen() {
		pace, next = 0, ""
	}
	model, err := demo.Start(ctx, pace, next)
	if err != nil {
		return exit.Wrap("prepare the demo", err)
	}
	defer func() { err = errors.Join(err, exit.Wrap("stop the demo's model", model.Close())) }()

	intro := demo.Intro
	o.Host, o.Model, o.Trusted = model.URL(), demo.Model, true
	if act == 2 {
		o.Model, intro = demo.RecordedModel, demo.RecordedIntro
	}
	o.LSP = lsp.Section{Enabled: new(bool)} // show the same on every machine
	o.MCPConfig, o.Servers, o.NoWorkspaceTools = "", nil, false
	o.Manner = config.Manner{} // the script supports no other settings, except for flags
	o.Manner.Prompting = o.Flagged(prompt.Prompting{ForcePlan: o.ForcePlan})
	home := filepath.Join(folder, "home")
	o.Dirs = store.Dirs{Config: home, Data: home, State: home}
	o.store = newStore(o.Dirs)
	if o.screen() {
		// Its runs go with its folder: nothing can be said about them later.
		_, err := o.screens().openScreens(ctx, tui.Options{Intro: intro(o.Keys.Name("chat.send")), Suggestions: demo.Suggestions(act)}, continued{})
		return err
	}
	if !keep {
		o.again = "replan demo --plain"
		if act == 2 {
			o.again += " --act 2"
		}
	}
	if o.ApproveText == "" && !o.asks() {
		o.ApproveText, o.Approve = string(policy.ApproveAll), policy.ApproveAll
		_, _ = fmt.Fprintln(o.io.Err, "replan: the demo works in its own folder and approves its own gates; --approve none keeps them closed")
	}
	if act == 1 {
		return o.runHeadless(ctx, demo.Goal)
	}
	var job headlessJob
	for _, goal := range demo.Goals() {
		job.commands = append(job.commands, session.Submit{Text: goal})
	}
	return o.headless(ctx, job)
}

// prepareDemo unpacks the project to a subfolder and returns its path.
func prepareDemo(folder, name string) (string, error) {
	path := strings.TrimRight(folder, string(os.PathSeparator)) + string(os.PathSeparator) + name
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", err
	}
	return path, demo.Unpack(path)
}
