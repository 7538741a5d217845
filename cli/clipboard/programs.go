package clipboard

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"replan/internal/picture"
	"replan/mcpclient/child"
)

// run runs a program and returns its output.
type run = func(ctx context.Context, name string, args ...string) ([]byte, error)

// program reads the clipboard by one program, or by two that belong together.
type program func(ctx context.Context, run run) (Content, error)

// programs returns those that may read the clipboard of this desktop, the best first, and
// the name of the package to install if none is there.
func (r Reader) programs() (all []program, missing string) {
	has := func(name string) bool { return child.Variable(r.Environ, name) != "" }
	switch r.System {
	case "darwin":
		return []program{byPasteboard}, "pngpaste"
	case "windows":
		return []program{byPowerShell}, "PowerShell"
	}
	if has("DISPLAY") {
		all, missing = append(all, byTypes("xclip", []string{"-selection", "clipboard", "-o", "-t"}, "TARGETS", "UTF8_STRING")), "xclip"
	}
	if has("WAYLAND_DISPLAY") {
		all, missing = slices.Insert(all, 0, byTypes("wl-paste", []string{"--no-newline", "--type"}, "", "text")), "wl-clipboard"
	}
	if has("WSL_DISTRO_NAME") {
		all, missing = append(all, byPowerShell), "wl-clipboard"
	}
	return all, missing
}

// pictureTypes are the types of pictures that models see, the best first.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// byTypes returns a program that lists the types of what is in the clipboard, and then
// writes one of them. args come before a type. list is the type that lists the types, ""
// for the option of wl-paste.
func byTypes(name string, args []string, list, text string) program {
	return func(ctx context.Context, run run) (c Content, err error) {
		write := func(mediaType string) ([]byte, error) {
			return run(ctx, name, append(slices.Clone(args), mediaType)...)
		}
		var offered []byte
		if list == "" {
			offered, err = run(ctx, name, "--list-types")
		} else {
			offered, err = write(list)
		}
		if err != nil {
			return c, err // nothing was copied, or the program is not there
		}
		types := strings.Fields(string(offered))
		for _, t := range pictureTypes {
			if slices.Contains(types, t) {
				c.Picture, err = write(t)
				return bounds(c, err)
			}
		}
		if slices.Contains(types, "text/uri-list") { // a file that was copied
			text = "text/uri-list"
		}
		out, err := write(text)
		c.Text = string(out)
		return c, err
	}
}

// bounds refuses a picture that no message can attach.
func bounds(c Content, err error) (Content, error) {
	if len(c.Picture) > picture.MaxBytes {
		return Content{}, ErrTooLarge
	}
	return c, err
}

// byPasteboard reads the pasteboard of macOS. A file that was copied in the Finder comes
// first: what else it offers is its icon.
func byPasteboard(ctx context.Context, run run) (c Content, err error) {
	path, err := run(ctx, "osascript", "-e", "POSIX path of (the clipboard as «class furl»)")
	if errors.Is(err, exec.ErrNotFound) {
		return c, err
	}
	if err == nil {
		return Content{Text: strings.TrimSpace(string(path))}, nil
	}
	if c.Picture, err = run(ctx, "pngpaste", "-"); err == nil || errors.Is(err, ErrTooLarge) {
		return bounds(c, err)
	}
	if out, err := run(ctx, "osascript", "-e", "the clipboard as «class PNGf»"); err == nil {
		digits := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(out)), "«data PNGf"), "»")
		c.Picture, err = hex.DecodeString(digits)
		return bounds(c, err)
	}
	text, err := run(ctx, "pbpaste")
	return Content{Text: string(text)}, err
}

// script writes what is in the clipboard of Windows: a word for its kind, and the content.
const script = `[Console]::OutputEncoding=[Text.Encoding]::UTF8; Add-Type -AssemblyName System.Windows.Forms,System.Drawing; $c=[Windows.Forms.Clipboard]; ` +
	`if($c::ContainsFileDropList()){'text '+$c::GetFileDropList()[0]} ` +
	`elseif($c::ContainsImage()){$m=New-Object IO.MemoryStream; $c::GetImage().Save($m,[Drawing.Imaging.ImageFormat]::Png); 'picture '+[Convert]::ToBase64String($m.ToArray())} ` +
	`else{'text '+$c::GetText()}`

// byPowerShell reads the clipboard of Windows, also from its subsystem for Linux.
func byPowerShell(ctx context.Context, run run) (c Content, err error) {
	out, err := run(ctx, "powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", script)
	if err != nil {
		return c, err
	}
	kind, content, _ := strings.Cut(strings.TrimRight(string(out), "\r\n"), " ")
	if kind != "picture" {
		return Content{Text: content}, nil
	}
	c.Picture, err = base64.StdEncoding.DecodeString(content)
	return bounds(c, err)
}
