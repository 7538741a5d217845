package editor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Unset is the message if no editor is set.
const Unset = "No editor is set: set VISUAL or EDITOR, such as EDITOR=vim."

// Open writes text to a private file of that name and opens the editor, a command with its
// arguments, on it. If the editor is known, it opens at a line, counted from 1. The
// terminal is the screen's again when the editor has ended. done makes the message about
// what it left, also if it failed; the file is then removed.
func Open(command []string, name, text string, line int, done func(text string, err error) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		path, err := Save(name, text)
		if err != nil {
			return done(text, fmt.Errorf("open the editor: %w", err))
		}
		args := append(slices.Clone(command[1:]), at(command[0], path, line)...)
		started := exec.Command(command[0], args...) //nolint:gosec,noctx // the user's own editor, for as long as it is open
		started.Stderr = os.Stdout                   // the terminal: os.Stderr leads to the log
		run := tea.ExecProcess(started, func(failed error) tea.Msg {
			defer func() { _ = os.RemoveAll(filepath.Dir(path)) }() // it is a temporary folder
			left, err := os.ReadFile(path)                          //nolint:gosec // our own
			if err != nil {
				left = []byte(text)
			}
			if failed != nil {
				err = fmt.Errorf("%s failed: %w", filepath.Base(command[0]), failed)
			}
			return done(string(left), err)
		})
		return run()
	}
}

// at returns the arguments that open a file at a line, for an editor that is known
// to take them.
func at(editor, path string, line int) []string {
	if line > 1 {
		switch strings.TrimSuffix(filepath.Base(editor), ".exe") {
		case "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "hx":
			return []string{fmt.Sprintf("+%d", line), path}
		case "code":
			return []string{"--goto", fmt.Sprintf("%s:%d", path, line)}
		}
	}
	return []string{path}
}

// Save writes text to a private file of that name in a new temporary folder, and
// returns its path.
func Save(name, text string) (path string, err error) {
	folder, err := os.MkdirTemp("", "replan-edit-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", errors.Join(err, os.RemoveAll(folder))
	}
	return path, nil
}
