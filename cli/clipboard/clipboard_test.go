package clipboard_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"replan/cli/clipboard"
	"replan/internal/picture"
)

// copied is the output of programs by their command lines. Others fail, and those whose
// name is in no line are not there.
type copied map[string]string

func (c copied) run(_ context.Context, name string, args ...string) ([]byte, error) {
	if out, ok := c[strings.Join(append([]string{name}, args...), " ")]; ok {
		return []byte(out), nil
	}
	for line := range c {
		if program, _, _ := strings.Cut(line, " "); program == name {
			return nil, errors.New("there is nothing of that type")
		}
	}
	return nil, exec.ErrNotFound
}

func TestClipboardIsReadByTheFirstProgramThatFindsSomething(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n…"
	x11, wayland := []string{"DISPLAY=:0"}, []string{"DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0"}
	windows := "powershell.exe"
	for name, c := range map[string]struct {
		system  string
		environ []string
		copied  copied
		picture string
		text    string
		err     string
	}{
		"picture on Wayland": {"linux", wayland, copied{"wl-paste --list-types": "text/html\nimage/png\n", "wl-paste --no-newline --type image/png": png}, png, "", ""},
		"text on Wayland":    {"linux", wayland, copied{"wl-paste --list-types": "text/plain\n", "wl-paste --no-newline --type text": "a b"}, "", "a b", ""},
		"file on Wayland": {"linux", wayland, copied{
			"wl-paste --list-types": "text/plain text/uri-list", "wl-paste --no-newline --type text/uri-list": "file:///a.png",
		}, "", "file:///a.png", ""},
		"nothing on Wayland":      {"linux", wayland, copied{"wl-paste --version": ""}, "", "", ""},
		"xclip without wl-paste":  {"linux", wayland, copied{"xclip -selection clipboard -o -t TARGETS": "image/jpeg", "xclip -selection clipboard -o -t image/jpeg": png}, png, "", ""},
		"text of X11":             {"linux", x11, copied{"xclip -selection clipboard -o -t TARGETS": "UTF8_STRING", "xclip -selection clipboard -o -t UTF8_STRING": "a"}, "", "a", ""},
		"no program on X11":       {"linux", x11, nil, "", "", "nothing here reads the clipboard: install xclip"},
		"no program on Wayland":   {"linux", wayland, nil, "", "", "nothing here reads the clipboard: install wl-clipboard"},
		"no desktop":              {"linux", []string{"SSH_CONNECTION=1"}, nil, "", "", clipboard.ErrNoDesktop.Error()},
		"pngpaste":                {"darwin", nil, copied{"osascript": "", "pngpaste -": png}, png, "", ""},
		"osascript":               {"darwin", nil, copied{"osascript -e the clipboard as «class PNGf»": "«data PNGf" + hex.EncodeToString([]byte(png)) + "»\n"}, png, "", ""},
		"file of the Finder":      {"darwin", nil, copied{"osascript -e POSIX path of (the clipboard as «class furl»)": "/a b.png\n", "pngpaste -": "its icon"}, "", "/a b.png", ""},
		"text on macOS":           {"darwin", nil, copied{"osascript": "", "pbpaste": "a"}, "", "a", ""},
		"Windows":                 {"windows", nil, copied{windows: "picture " + base64.StdEncoding.EncodeToString([]byte(png)) + "\r\n"}, png, "", ""},
		"text on Windows":         {"windows", nil, copied{windows: "text a b\r\n"}, "", "a b", ""},
		"its subsystem for Linux": {"linux", []string{"WSL_DISTRO_NAME=d", "WAYLAND_DISPLAY=w"}, copied{windows: "picture " + base64.StdEncoding.EncodeToString([]byte(png))}, png, "", ""},
		"a picture that is too large": {"linux", wayland, copied{
			"wl-paste --list-types": "image/png", "wl-paste --no-newline --type image/png": strings.Repeat("x", picture.MaxBytes+1),
		}, "", "", clipboard.ErrTooLarge.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			r := clipboard.Reader{System: c.system, Environ: c.environ, Run: func(ctx context.Context, name string, args ...string) ([]byte, error) {
				if name == windows {
					args = nil
				}
				return c.copied.run(ctx, name, args...)
			}}
			got, err := r.Read(t.Context())
			if (err != nil || c.err != "") && (err == nil || err.Error() != c.err) {
				t.Fatalf("got the error %v, want %q", err, c.err)
			}
			if string(got.Picture) != c.picture || got.Text != c.text {
				t.Errorf("got a picture of %q, and the text %q", got.Picture, got.Text)
			}
		})
	}
}

func TestProgramOfTheClipboardIsBoundInTimeAndSize(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	t.Parallel()
	dir := t.TempDir()
	environ := []string{"WAYLAND_DISPLAY=w", "PATH=" + dir + ":" + os.Getenv("PATH"), "API_TOKEN=abcdefghijklmnop"}
	script := func(body string) {
		if err := os.WriteFile(filepath.Join(dir, "wl-paste"), []byte("#!/bin/sh\n"+body), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	script(`case "$1" in --list-types) echo image/png;; *) cat /dev/zero;; esac`)
	if _, err := (clipboard.Reader{Environ: environ}).Read(t.Context()); !errors.Is(err, clipboard.ErrTooLarge) {
		t.Errorf("endless output gives %v", err)
	}
	script(`case "$1" in --list-types) echo image/png;; *) printf "%s" "shot$API_TOKEN";; esac`)
	if got, err := (clipboard.Reader{Environ: environ}).Read(t.Context()); err != nil || !bytes.Equal(got.Picture, []byte("shot")) {
		t.Errorf("got %q: %v", got.Picture, err)
	}
	// A program that hangs ends with the context, and what it started ends with it.
	ctx, cancel := context.WithCancel(t.Context())
	script("sleep 1000 & echo $! >" + filepath.Join(dir, "pid") + "; mkfifo " + filepath.Join(dir, "begun") + " 2>/dev/null; echo >" + filepath.Join(dir, "begun") + "; wait")
	if err := exec.Command("mkfifo", filepath.Join(dir, "begun")).Run(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = os.ReadFile(filepath.Join(dir, "begun"))
		cancel()
	}()
	if _, err := (clipboard.Reader{Environ: environ}).Read(ctx); err == nil {
		t.Error("a program that hangs gives no error")
	}
}
