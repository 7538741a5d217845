package editor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// shown are the endings of files that the system's program for them only shows. A
// server chose what is in the file, so nothing is opened that could run.
var shown = []string{
	".png", ".jpg", ".gif", ".webp", ".bmp", ".tiff", ".wav", ".mp3", ".ogg", ".flac", ".m4a", ".mp4", ".webm", ".mov", ".pdf", ".txt",
}

// Shows reports whether this system can show a file in a window of its own.
func Shows(path string, env func(string) string) bool {
	desktop := runtime.GOOS == "darwin" || runtime.GOOS == "windows" || env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
	return desktop && slices.Contains(shown, strings.ToLower(filepath.Ext(path)))
}

// Show opens a file with the system's program for it. failed makes the message about
// a failure.
func Show(path string, failed func(error) tea.Msg) tea.Cmd {
	opener := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open"}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return func() tea.Msg {
		if _, err := os.Stat(path); err != nil {
			return failed(fmt.Errorf("open the file: %w", err))
		}
		if err := exec.Command(opener[0], append(opener[1:], path)...).Run(); err != nil { //nolint:gosec,noctx // a file of ours, for as long as it is shown
			return failed(fmt.Errorf("%s cannot open the file: %w", opener[0], err))
		}
		return nil
	}
}
