package input

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// shelf knows pictures by their paths, and what is in the clipboard.
type shelf struct {
	files  map[string]Picture
	copied Picture
	text   string
	err    error
}

func (s *shelf) Find(path string) (Picture, bool) {
	p, ok := s.files[path]
	return p, ok
}

func (s *shelf) Copied(context.Context) (Picture, string, error) { return s.copied, s.text, s.err }

// withPictures is an input that finds pictures, and one that carries out what it asks for.
func withPictures(s *shelf) (*Pane, func(keymap.Requests) keymap.Requests) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	if s != nil {
		p.options.Pictures = s
	}
	p.SetFocus(true)
	return p, func(rs keymap.Requests) (more keymap.Requests) {
		for _, cmd := range keymap.Of[tea.Cmd](rs) {
			if cmd == nil {
				continue
			}
			switch msg := cmd().(type) {
			case FoundMsg, CopiedMsg:
				more = append(more, p.Update(msg)...)
			}
		}
		return more
	}
}

// submitted presses enter and returns what is sent.
func submitted(p *Pane) string {
	for _, command := range panetest.Sent(p.Actions()["chat.send"].Do()) {
		if submit, ok := command.(session.Submit); ok {
			return submit.Text
		}
	}
	return ""
}

func TestPastedPathOfAPictureIsAttached(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are others")
	}
	shot := Picture{Name: "img/shot 1.png", Width: 640, Height: 480}
	s := &shelf{files: map[string]Picture{"/w/img/shot 1.png": shot, "/o/b.JPG": {Name: "/o/b.JPG", Width: 1, Height: 2}, "~/c.gif": {Name: "~/c.gif", Width: 3, Height: 4}}}
	for name, c := range map[string]struct{ pasted, shown, sent string }{
		"plain":                 {"/o/b.JPG", "[picture b.JPG 1×2] ", "@/o/b.JPG"},
		"in quotes":             {"'/w/img/shot 1.png' ", "[picture shot 1.png 640×480] ", `@"img/shot 1.png"`},
		"in double quotes":      {`"/w/img/shot 1.png"`, "[picture shot 1.png 640×480] ", `@"img/shot 1.png"`},
		"with an escaped blank": {`/w/img/shot\ 1.png`, "[picture shot 1.png 640×480] ", `@"img/shot 1.png"`},
		"with a blank":          {"/w/img/shot 1.png\n", "[picture shot 1.png 640×480] ", `@"img/shot 1.png"`},
		"as an address":         {"file:///w/img/shot%201.png\r\n", "[picture shot 1.png 640×480] ", `@"img/shot 1.png"`},
		"of this machine":       {"file://localhost/o/b.JPG", "[picture b.JPG 1×2] ", "@/o/b.JPG"},
		"in the home folder":    {"~/c.gif", "[picture c.gif 3×4] ", "@~/c.gif"},
		"of another machine":    {"file://host/o/b.JPG", "file://host/o/b.JPG", "file://host/o/b.JPG"},
		"of no file":            {"/o/none.png", "/o/none.png", "/o/none.png"},
		"of no picture":         {"/o/b.txt", "/o/b.txt", "/o/b.txt"},
		"in a sentence":         {"see /o/b.JPG", "see /o/b.JPG", "see /o/b.JPG"},
		"two paths":             {"/o/b.JPG\n/o/b.JPG", "/o/b.JPG\n/o/b.JPG", "/o/b.JPG\n/o/b.JPG"},
	} {
		t.Run(name, func(t *testing.T) {
			p, carryOut := withPictures(s)
			carryOut(p.Update(tea.PasteMsg{Content: c.pasted}))
			if got := p.Text(); got != c.shown {
				t.Errorf("shows %q, want %q", got, c.shown)
			}
			if got := submitted(p); got != c.sent {
				t.Errorf("sends %q, want %q", got, c.sent)
			}
		})
	}
}

func TestPictureIsAWordWhereverItIsPasted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are others")
	}
	s := &shelf{files: map[string]Picture{"/o/b.png": {Name: "/o/b.png", Width: 1, Height: 2}}}
	p, carryOut := withPictures(s)
	types(p, "what is")
	looks := p.Update(tea.PasteMsg{Content: "/o/b.png"})
	types(p, " for") // typed before the file was looked at
	carryOut(looks)
	if got := p.Text(); got != "what is[picture b.png 1×2] for" {
		t.Errorf("shows %q", got)
	}
	carryOut(p.Update(tea.PasteMsg{Content: "/o/b.png"}))
	if got := p.Text(); got != "what is[picture b.png 1×2] for [picture b.png 1×2, 2] " {
		t.Errorf("shows %q", got)
	}
	p.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	types(p, "here")
	if got := submitted(p); got != "what is @/o/b.png for @/o/b.png here" {
		t.Errorf("sends %q", got)
	}

	// One key removes the whole token, and another one shows the path.
	carryOut(p.Update(tea.PasteMsg{Content: "/o/b.png"}))
	p.Actions()["chat.open_paste"].Do()
	if got := p.Text(); got != "@/o/b.png " {
		t.Errorf("opened as %q", got)
	}
	p.Clear()
	carryOut(p.Update(tea.PasteMsg{Content: "/o/b.png"}))
	p.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	p.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	if got := p.Text(); got != "" {
		t.Errorf("%q is left", got)
	}

	// A path that was deleted before the file was looked at stays away.
	looks = p.Update(tea.PasteMsg{Content: "/o/b.png"})
	p.Clear()
	carryOut(looks)
	if got := p.Text(); got != "" {
		t.Errorf("%q came back", got)
	}
}

func TestClipboardIsPastedByItsKey(t *testing.T) {
	for name, c := range map[string]struct {
		shelf  *shelf
		shown  string
		footer string
	}{
		"a picture":    {&shelf{copied: Picture{Name: "pasted-1.png", Width: 8, Height: 6}}, "see [picture pasted-1.png 8×6] ", ""},
		"text":         {&shelf{text: "the tests"}, "see the tests", ""},
		"nothing":      {&shelf{err: ErrNothingCopied}, "see ", "The clipboard has no picture."},
		"no program":   {&shelf{err: errors.New("nothing here reads the clipboard: install xclip")}, "see ", "Nothing here reads the clipboard: install xclip."},
		"escape codes": {&shelf{text: "\x1b[31mred\x1b[m\x00"}, "see red^@", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, carryOut := withPictures(c.shelf)
			types(p, "see ")
			got := carryOut(p.Actions()["chat.paste"].Do())
			if p.Text() != c.shown {
				t.Errorf("shows %q, want %q", p.Text(), c.shown)
			}
			footer := ""
			for _, words := range keymap.Of[keymap.Footer](got) {
				footer += string(words)
			}
			if footer != c.footer {
				t.Errorf("says %q, want %q", footer, c.footer)
			}
		})
	}
	p, _ := withPictures(nil)
	if why := p.Actions()["chat.paste"].Refuse(); why != "This session takes no pictures." {
		t.Errorf("without pictures: %q", why)
	}
}

func TestRemarkWithAPictureIsRefused(t *testing.T) {
	p, carryOut := withPictures(&shelf{copied: Picture{Name: "pasted-1.png", Width: 8, Height: 6}})
	p.Running, p.Steerable = true, true
	carryOut(p.Actions()["chat.paste"].Do())
	if why := p.Actions()["run.steer"].Refuse(); why != "A remark shows no pictures; enter queues the message." {
		t.Errorf("got %q", why)
	}
}
