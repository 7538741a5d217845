package demo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/cli/screen"
	"replan/tui"
)

// demoPace is the delay between two chunks of the scripted model on the full screen. That
// is about the speed of a small model on a good machine.
const demoPace = 12 * time.Millisecond

// demoOptions are the options of replan demo.
type demoOptions struct {
	app  *app.App
	act  int
	keep bool // the folder with its run
}

// New returns the command replan demo.
func New(a *app.App) *cobra.Command {
	o := demoOptions{app: a, act: 1}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Play a whole session with nothing installed",
		Long: "demo plays a whole session in a folder of its own. The model's words are a script, served over\n" +
			"Ollama's own protocol; the project, the tools, the failing test, the diff and the gates are real.\n" +
			"In its second act a real small model plays, whose replies were recorded.\n" +
			"Without a terminal it approves its own gates. Its folder and its run are deleted at the end.",
		Example: "  replan demo\n  replan demo --act 2\n  replan demo --plain --approve all\n  replan demo --output json",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.act != 1 && o.act != 2 {
				return exit.Usage("--act is 1 or 2, not %d", o.act)
			}
			return o.run(cmd.Context())
		},
	}
	command.Flags().BoolVar(&o.keep, "keep", false, "keep the demo's folder with its run, and print its path")
	command.Flags().IntVar(&o.act, "act", o.act, "begin with act `N`: 1 is a script, 2 a real model that was recorded")
	return command
}

// run unpacks the project, starts the scripted model and runs a session from an act on.
func (o demoOptions) run(ctx context.Context) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return exit.Usage("the demo fixes a Go project and needs the go command: install Go from https://go.dev/dl")
	}
	if _, err := os.UserCacheDir(); err != nil && o.app.IO().Getenv("GOCACHE") == "" {
		return exit.Usage("the demo runs go test, which needs a folder for its cache: set HOME or GOCACHE")
	}
	folder, err := os.MkdirTemp("", "replan-demo-")
	if err != nil {
		return exit.Wrap("create a folder for the demo; set TMPDIR to a writable folder", err)
	}
	defer func() {
		if o.keep {
			o.app.Out().Note("the demo ran in %s; replan runs --data-dir %s lists its run", folder, filepath.Join(folder, "home"))
			return
		}
		err = errors.Join(err, exit.Wrap("remove the demo's folder", os.RemoveAll(folder)))
	}()
	project, err := Prepare(folder, "pages")
	if err != nil {
		return exit.Wrap("prepare the demo", err)
	}
	pace, next := demoPace, Next(o.app.Appearance().KeyName, o.keep)
	if !o.app.Screen() {
		pace, next = 0, ""
	}
	model, err := Start(ctx, pace, next)
	if err != nil {
		return exit.Wrap("prepare the demo", err)
	}
	defer func() { err = errors.Join(err, exit.Wrap("stop the demo's model", model.Close())) }()

	in := config.Project{Folder: project, Home: filepath.Join(folder, "home"), Model: Model, Host: model.URL()}
	if o.act == 2 {
		in.Model = RecordedModel
	}
	return o.play(ctx, o.app.With(func(o *config.Options) { o.Demonstrate(in) }))
}

// play runs the session with the settings of the demo.
func (o demoOptions) play(ctx context.Context, a *app.App) error {
	if a.Screen() {
		// Its runs go with its folder: nothing can be said about them later.
		intro := Intro
		if o.act == 2 {
			intro = RecordedIntro
		}
		_, err := screen.OpenSessions(ctx, a, tui.Options{Intro: intro(a.Appearance().KeyName("chat.send")), Suggestions: Suggestions(o.act)}, screen.Continued{})
		return err
	}
	job := lines.Job{Commands: []session.Command{session.Submit{Text: Goal}}}
	if o.act == 2 {
		job.Commands = nil
		for _, goal := range Goals() {
			job.Commands = append(job.Commands, session.Submit{Text: goal})
		}
	}
	if !o.keep {
		job.Again = "replan demo --plain"
		if o.act == 2 {
			job.Again += " --act 2"
		}
	}
	if !a.Gates().Decided && !a.Asks() {
		a = a.With((*config.Options).ApproveAll)
		a.Out().Note("the demo works in its own folder and approves its own gates; --approve none keeps them closed")
	}
	return lines.Run(ctx, a, job)
}

// Prepare unpacks the project to a subfolder and returns its path.
func Prepare(folder, name string) (string, error) {
	path := strings.TrimRight(folder, string(os.PathSeparator)) + string(os.PathSeparator) + name
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", err
	}
	return path, Unpack(path)
}
