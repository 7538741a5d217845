package step

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// drawnStep is a step whose result is text, a picture and a sound.
func drawnStep() *agent.StepState {
	files := []plan.Attachment{
		{File: "/state/runs/r.values/aa.png", Type: "image/png", Bytes: 12_288, SHA256: "aa"},
		{File: "/state/runs/r.values/bb.wav", Type: "audio/wav", Bytes: 2_000, SHA256: "bb"},
	}
	return &agent.StepState{
		Step: plan.Step{Index: "1", Title: "Take a picture", Tool: "browser:shot", Executor: plan.ExecutorTool}, Status: agent.StepCompleted, Attempt: 1,
		Result: map[string]any{"text": "The page:\n[image: image/png, 12288 bytes]", "files": []any{files[0].Value(), files[1].Value()}},
		Beside: plan.Beside{Attachments: files},
	}
}

// flag is a picture with a red upper and a blue lower half, and a transparent last
// column.
func flag() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 6, 5))
	for x := range 5 {
		for y := range 5 {
			img.SetRGBA(x, y, color.RGBA{R: 200, A: 255})
			if y > 2 {
				img.SetRGBA(x, y, color.RGBA{B: 200, A: 255})
			}
		}
	}
	return img
}

// showing is a pane on a step, with the queries it made.
func showing(l *draw.Styles, s *agent.StepState, width, height int) *Pane {
	d := New(l, keymap.New())
	d.SetState(State{Size: draw.Rect{W: width, H: height}})
	run := &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Steps: []*agent.StepState{s}}}
	d.Show(run, &Subject{Kind: SubjectStep, Key: "1", Step: s})
	return d
}

// answers answers the queries for pictures.
type answers struct {
	session.Queries
	asked []string
}

func (a *answers) Picture(_ context.Context, of plan.Attachment, _, _ int) (session.Picture, error) {
	a.asked = append(a.asked, of.File)
	return session.Picture{Of: of, Width: 640, Height: 480, Pixels: flag()}, nil
}

// load answers all queries of a pane and returns what it asked for.
func load(d *Pane) []string {
	var a answers
	for q := d.Wanted(); q != nil; q = d.Wanted() {
		if m, ok := q(context.Background(), &a).(keymap.AnswerMsg[session.Picture]); ok {
			d.Picture(m.Value, m.Err)
		}
	}
	return a.asked
}

func TestFilesOfAResultAreShownWithTheirPictures(t *testing.T) {
	for name, mode := range map[string]themes.Mode{"colors": {}, "ascii": {ASCII: true}, "no color": {NoColor: true}} {
		for _, width := range []int{70, 22} {
			t.Run(fmt.Sprintf("%s/%d", name, width), func(t *testing.T) {
				d := showing(draw.NewStyles(new(themes.Set).New(themes.Dark, true, mode)), drawnStep(), width, 24)
				asked := load(d)
				if want := map[bool]int{true: 1, false: 0}[name == "colors"]; len(asked) != want {
					t.Errorf("asked for %v", asked)
				}
				lines := d.View()
				for _, line := range lines {
					if got := ansi.StringWidth(line); got > width {
						t.Errorf("a line of %d cells: %q", got, line)
					}
				}
				golden.RequireEqual(t, panetest.Stripped(lines)+"\n")
			})
		}
	}
}

func TestOnlyTheFirstPicturesOfAResultAreLoaded(t *testing.T) {
	s := drawnStep()
	for i := range 3 * picturesHeld {
		s.Beside.Attachments = append(s.Beside.Attachments, plan.Attachment{File: fmt.Sprint(i), Type: "image/png", SHA256: fmt.Sprint(i)})
	}
	d := showing(draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{})), s, 60, 40)
	if asked := load(d); len(asked) == 0 || len(asked) > picturesHeld {
		t.Errorf("asked for %d pictures, want at most %d", len(asked), picturesHeld)
	}
}

func TestPictureIsDrawnInItsColors(t *testing.T) {
	d := showing(panetest.DarkLook(), drawnStep(), 70, 24)
	before := strings.Join(d.View(), "\n")
	load(d)
	after := strings.Join(d.View(), "\n")
	if strings.Contains(before, "▀") || !strings.Contains(after, "\x1b[38;2;200;0;0;48;2;200;0;0m▀") || !strings.Contains(after, "\x1b[0;38;2;0;0;200m▀") {
		t.Errorf("the picture is drawn as\n%q", after)
	}
}

func TestPictureThatCannotBeReadSaysWhy(t *testing.T) {
	s := drawnStep()
	d := showing(panetest.DarkLook(), s, 70, 24)
	if d.Wanted() == nil {
		t.Fatal("the pane asks for no picture")
	}
	d.Picture(session.Picture{Of: s.Beside.Attachments[0], Problem: untrusted.Text("the file is not what was kept")}, nil)
	if text := panetest.Stripped(d.View()); !strings.Contains(text, "the file is not what was kept") {
		t.Errorf("the pane shows\n%s", text)
	}
	if d.Wanted() != nil {
		t.Error("the pane asks again")
	}
}

func TestTerminalThatAnswersLateGetsPicturesAnew(t *testing.T) {
	d := showing(panetest.DarkLook(), drawnStep(), 70, 24)
	first := load(d)
	d.graphics.Update(tea.EnvMsg{"TERM=xterm-kitty"})
	d.graphics.Update(uv.KittyGraphicsEvent{Options: kitty.Options{ID: 31}, Payload: []byte("OK")})
	if again := load(d); len(first) == 0 || !slices.Equal(again, first) {
		t.Errorf("asked for %v at first, then for %v", first, again)
	}
	if again := load(d); len(again) > 0 {
		t.Errorf("asked for %v once more", again)
	}
}

func TestUnaskedPictureIsNotHeld(t *testing.T) {
	d := showing(panetest.DarkLook(), drawnStep(), 70, 24)
	d.Picture(session.Picture{Of: plan.Attachment{SHA256: "zz"}, Pixels: flag()}, nil)
	d.Picture(session.Picture{}, errors.New("closed"))
	if len(d.pictures) != 0 {
		t.Errorf("the pane holds %d pictures", len(d.pictures))
	}
}

func TestOpeningAFileWithoutADesktopCopiesItsPath(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	s := drawnStep()
	s.Beside.Attachments[0].File = "/state/runs/r.values/aa.bin" // never opened, on any system
	d := showing(panetest.DarkLook(), s, 70, 24)
	do := d.Actions()["plan.file"]
	if why := do.Refuse(); why != "" {
		t.Fatal(why)
	}
	if got := do.Do(); got.Copy == nil || got.Copy.Text != "/state/runs/r.values/aa.bin" || got.Cmd != nil {
		t.Errorf("requested %+v", got)
	}
	if text, _ := d.copied(); text != "The page:\n[image: image/png, 12288 bytes]\nimage/png, 12288 bytes: /state/runs/r.values/aa.bin\naudio/wav, 2000 bytes: /state/runs/r.values/bb.wav\n" {
		t.Errorf("copied %q", text)
	}
	s.Beside.Attachments = nil
	if do.Refuse() == "" {
		t.Error("a step without files can open one")
	}
}
