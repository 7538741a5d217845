package settings

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"replan/cli/args"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/screen"
	"replan/internal/untrusted"
	"replan/internal/wholefile"
)

// begin is what a new file begins with.
const begin = "# Settings of replan. replan config list shows the keys and their values.\n"

func (g group) newEdit() *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Open your config.toml in your editor, and check it",
		Long: "edit opens a draft of your config.toml in the editor that VISUAL or EDITOR names. A draft that is wrong does not\n" +
			"take the place of the file: it stays, and the next edit goes on with it.",
		Example: "  replan config edit\n  EDITOR='code --wait' replan config edit",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := g.file(cmd)
			if err != nil {
				return err
			}
			return g.edit(cmd.Context(), file)
		},
	}
}

// errChanged refuses to overwrite what another program wrote meanwhile.
var errChanged = errors.New("another program changed it meanwhile")

// edit lets the user edit a draft of the file, which takes its place if it is right.
func (g group) edit(ctx context.Context, file string) error {
	editor := screen.Editor(g.app.IO().Getenv)
	if editor == nil {
		return exit.Usage("no editor is set: set VISUAL or EDITOR, such as EDITOR=vim; the file is %s", untrusted.Line(file))
	}
	before, err := os.ReadFile(file) //nolint:gosec // the user's own configuration
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.Wrap("read the configuration", err)
	}
	draft := filepath.Join(filepath.Dir(file), "draft", filepath.Base(file))
	first, err := g.draft(draft, before)
	if err != nil {
		return exit.Wrap("write a draft of the configuration", err)
	}
	failed := g.open(editor, draft)
	after, err := os.ReadFile(draft) //nolint:gosec // our own
	switch {
	case failed == nil && err != nil:
		return exit.Wrap("read the draft", err)
	case bytes.Equal(after, first) && bytes.Equal(first, orBegin(before)):
		_ = os.RemoveAll(filepath.Dir(draft)) // a leftover is taken up by the next edit
		if failed != nil {
			return exit.Wrap("run "+editor[0], failed)
		}
		if err := g.app.CheckConfigFile(file); err != nil {
			return exit.Usage("nothing was changed, and %w", err)
		}
		return g.app.Out().Print("nothing was changed\n")
	case failed != nil:
		return exit.Wrap("run "+editor[0]+" (the configuration is as before; your draft stays in "+draft+")", failed)
	}
	if err := g.app.CheckConfigFile(draft); err != nil {
		return exit.Usage("%w; your file is as before, and the draft stays: replan config edit goes on with it", err)
	}
	err = wholefile.Edit(ctx, file, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, before) {
			return nil, errChanged
		}
		return after, nil
	})
	if err != nil {
		return exit.Usage("%s is as before, and your draft stays in %s: %w", file, draft, err)
	}
	_ = os.RemoveAll(filepath.Dir(draft))
	if g.app.Out().JSON() {
		return g.app.Out().PrintJSON(map[string]string{"file": file})
	}
	return g.app.Out().Print(doctor.Sign(g.app, doctor.OK) + " saved " + untrusted.Line(file) + "\n")
}

// orBegin returns the text of a file, or what a new one begins with.
func orBegin(text []byte) []byte {
	if len(text) == 0 {
		return []byte(begin)
	}
	return text
}

// draft returns the text of the draft to edit: what the last edit left, else a copy of
// the file.
func (g group) draft(path string, file []byte) ([]byte, error) {
	left, err := os.ReadFile(path) //nolint:gosec // our own
	if err == nil {
		g.app.Out().Note("going on with the draft of the last edit, %s; remove it to begin with the file", untrusted.Line(path))
		return left, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return orBegin(file), wholefile.Write(path, orBegin(file))
}

// open runs the editor on a file until it ends.
func (g group) open(editor []string, path string) error {
	run := exec.Command(editor[0], append(editor[1:len(editor):len(editor)], path)...) //nolint:gosec,noctx // the user's own editor, for as long as it is open
	run.Stdin, run.Stdout, run.Stderr = g.app.IO().In, g.app.IO().Out, g.app.IO().Err
	return run.Run()
}
