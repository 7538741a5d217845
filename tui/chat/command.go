package chat

import (
	"strings"

	"replan/agent"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

const (
	linesOfCommand = 12  // last lines of the output in a collapsed card
	mostUnfolded   = 400 // lines in an expanded one; the step pane has the rest
)

// noOutput stands for the output of a program that wrote nothing.
const noOutput = "no output"

// runsCommand reports whether a run carries out a command that the user typed behind the mark.
func runsCommand(run *agent.Run) bool {
	if run.Route == nil {
		return false
	}
	_, typed := run.Route.Intent.TypedCommand()
	return typed
}

// exitStatus matches how a failure names the exit code of a program.
var exitStatus = lazyregexp.New(`^.* ended with exit status (\d+)$`)

// commandOutput returns what the command of a step wrote so far, and how it ended if it failed:
// its exit code in the title, or else a sentence.
func commandOutput(s *agent.StepState) (output, exit, sentence string) {
	if members, ok := s.Result.(map[string]any); ok && s.Status == agent.StepCompleted {
		output, _ = members["output"].(string)
		return output, "", ""
	}
	output = s.Output
	if s.Status != agent.StepFailed {
		return output, "", ""
	}
	sentence, rest, _ := strings.Cut(s.Error.Visible(), "\n")
	if strings.TrimSpace(output) == "" {
		output = rest
	}
	if m := exitStatus.FindStringSubmatch(sentence); m != nil {
		exit, sentence = "exit "+m[1], ""
	}
	return output, exit, sentence
}

// commandBlock returns a card for a command of the user that has begun: how it ended, and how
// long it took, above the last lines that it wrote. Expanded, it shows all.
// The message above it is the command.
func commandBlock(l *draw.Styles, run *agent.Run) *Block {
	step := func() *agent.StepState {
		if len(run.Steps) == 0 {
			return &agent.StepState{}
		}
		return run.Steps[0]
	}
	lines := func() []string {
		output, _, _ := commandOutput(step())
		return wording.OutputLines(output)
	}
	fold := newFold(foldCard, false, func() bool { return len(lines()) > linesOfCommand+1 })
	return &Block{
		Gap: true, live: true, card: true, fold: fold, until: func() bool { return step().Status.Ended() },
		text: func() string { return untrusted.Visible(strings.Join(lines(), "\n")) },
		lay: func(width int) []draw.TextLine {
			s := step()
			if s.StartedAt.IsZero() {
				return nil // its gate is open, or was not passed
			}
			_, exit, sentence := commandOutput(s)
			glyph, style := draw.StateGlyph(l, run, s)
			state, how := draw.StateWord(l, run, s)
			switch {
			case exit != "":
				state = exit
			case s.Status == agent.StepCompleted:
				state, how = "done", l.Muted
			}
			facts := ""
			if s.Status.Ended() {
				facts = l.Faint.Render(wording.Milliseconds(s.MS))
			}
			if fold.turns("") {
				facts += fold.sign(l)
			}
			head := []draw.TextLine{{Text: l.Sides(style.Render(glyph)+" "+how.Render(state), facts, width), Lead: 2}}
			return append(head, guided(l, draw.Set(outputLines(l, s, lines(), sentence, fold.isOpen(), max(width-2, 1))))...)
		},
	}
}

// outputLines draws the output of a command: its end, or when open all of it.
func outputLines(l *draw.Styles, s *agent.StepState, lines []string, sentence string, open bool, width int) []string {
	most := linesOfCommand
	if open {
		most = mostUnfolded
	}
	out, _ := lastLines(l, lines, most, width)
	switch {
	case sentence != "":
		out = append(out, draw.Paint(l.Danger, draw.Wrap(sentence, width))...)
	case len(lines) == 0 && s.Status == agent.StepCompleted:
		out = append(out, l.Faint.Render(noOutput))
	}
	return out
}

// lastLines draws the last lines of the output of a program, below the number of those before them. It
// reports whether that is all of them.
func lastLines(l *draw.Styles, lines []string, most, width int) (out []string, all bool) {
	earlier, last := wording.LastLines(lines, most)
	if earlier != "" {
		out = append(out, l.Faint.Render(l.Cut(earlier, width)))
	}
	for _, line := range last {
		out = append(out, l.Text.Render(l.Cut(untrusted.Visible(line), width)))
	}
	return out, earlier == ""
}
