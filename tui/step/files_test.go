package step

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
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

// showing is a pane on a step.
func showing(l *draw.Styles, s *agent.StepState, width, height int) *Pane {
	d := New(l, panetest.Keys())
	d.SetState(State{Size: draw.Rect{W: width, H: height}})
	run := &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Steps: []*agent.StepState{s}}}
	d.Show(run, &Subject{Kind: SubjectStep, Key: "1", Step: s})
	return d
}

func TestFilesOfAResultAreShownWithTheirSizes(t *testing.T) {
	for name, mode := range map[string]themes.Mode{"colors": {}, "ascii": {ASCII: true}, "no color": {NoColor: true}} {
		for _, width := range []int{70, 22} {
			t.Run(fmt.Sprintf("%s/%d", name, width), func(t *testing.T) {
				d := showing(draw.NewStyles(new(themes.Set).New(themes.Dark, true, mode)), drawnStep(), width, 24)
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
	if got := do.Do(); keymap.First[keymap.Copy](got).Text != "/state/runs/r.values/aa.bin" || keymap.First[tea.Cmd](got) != nil {
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
