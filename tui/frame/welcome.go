package frame

import (
	"cmp"
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// welcome draws the page of the empty chat.
type welcome struct {
	styles   *draw.Styles
	keys     *keymap.Map
	markdown *draw.Markdown
	options  Options
}

// Welcome returns the page shown in the empty chat: an introduction, goals that
// fit, or why no model answers and how to get one.
func (w *welcome) Welcome(s State, width, height int) []string {
	const widest, usual = 84, 16 // cells, and lines of the page
	p := &page{Document: draw.Document{Styles: w.styles, Width: min(width, widest)}, brief: height < 16}
	greets := s.Session.Problem == "" && w.options.Intro == "" && !w.options.Replay
	if !p.brief || greets {
		w.introduce(p)
	}
	if w.options.Intro != "" {
		p.gap()
		p.Add(draw.Texts(w.markdown.Lines(w.options.Intro, p.Width))...)
	}
	switch {
	case s.Session.Problem != "" && s.Session.Trouble.Kind != "":
		w.explainTrouble(p, s)
	case s.Session.Problem != "":
		p.gap()
		p.note(w.styles.Warning.Render(w.styles.Glyphs.Warning), s.Session.Problem.Line())
		if s.Session.Planner.ByWords() {
			p.gap()
			p.note(w.styles.Faint.Render(w.styles.Glyphs.Separator), agent.WithoutModel+wording.UndoHint)
		}
	}
	if !p.brief || !greets {
		w.describeWorkspace(p, s)
	}
	if words := wording.Interrupted(s.Past, s.Session.Workspace, w.keys.ResumeNames()); words != "" && !w.options.Replay {
		p.gap()
		p.Prose(w.styles.Muted, words)
	}
	if greets && s.Reported {
		w.suggestGoals(p)
	}
	// The margins do not follow the text, which grows as servers and models answer.
	margin := strings.Repeat(" ", (width-p.Width)/2)
	above := min(max(height-usual, 0)/3, 5, max(height-len(p.Lines), 0))
	return append(make([]string, above), draw.Hang(margin, p.Lines)...)
}

// labels is the width of the column with the labels and the sign, in cells.
const labels = 13

// introduce shows the program's sign, its name and what it does. The sign is a plan
// whose failed step was replaced.
func (w *welcome) introduce(p *page) {
	l, wires := w.styles, w.styles.Glyphs.Wires
	does := "Plans a goal, runs the plan, and replans when a step fails."
	name := l.Brand.Render("replan")
	if w.options.Version != "" {
		name += " " + l.Faint.Render(w.options.Version)
	}
	if p.brief || p.Width < labels+draw.VisibleWidth(does) {
		p.Add(name)
		if !p.brief {
			p.Prose(l.Muted, does)
		}
		return
	}
	line, done := l.Faint.Render(strings.Repeat(wires.LR, 2)), l.Success.Render(l.Glyphs.Done)
	first := done + line + done + line + l.Danger.Render(l.Glyphs.Failed)
	second := "   " + l.Faint.Render(wires.UR) + line + l.Accent.Render(l.Glyphs.Added) + line + done
	p.Add(l.Fit(first, labels)+name, l.Fit(second, labels)+l.Muted.Render(does))
}

// suggestGoals gives goals that fit the folder, and the first keys.
func (w *welcome) suggestGoals(p *page) {
	examples := w.options.Examples
	if len(examples) == 0 {
		examples = []string{"explain what this project does", "run the tests", "find TODO"}
	}
	if p.brief {
		examples = examples[:min(len(examples), 3)]
	}
	p.gap()
	p.labeled("try", draw.Paint(w.styles.Code, examples)...)
	p.gap()
	p.keys(w.keys.Hint("send", "chat.send"), keymap.Hint{Label: "/", Does: "commands"},
		w.keys.Hint("everything", "palette"), w.keys.Hint("runs", "runs"), w.keys.Hint("keys", "help"))
}

// explainTrouble explains why no model answers, and what to do.
func (w *welcome) explainTrouble(p *page, s State) {
	l, trouble := w.styles, s.Session.Trouble
	p.gap()
	title, explanation := "No model available", ""
	model, host := trouble.Model.Line(), trouble.Host.Line()
	switch trouble.Kind {
	case prompt.TroubleUnreachable:
		explanation = "Ollama does not answer at " + host + "."
	case prompt.TroubleNoModels:
		explanation = "Ollama at " + host + " runs, but has no model yet."
	case prompt.TroubleMissing:
		title = "The model is not installed"
		explanation = "Ollama at " + host + " has no " + model + "."
	default:
		explanation = s.Session.Problem.FirstLine()
	}
	p.Add(l.Warning.Bold(true).Render(l.Glyphs.Warning + " " + title))
	p.Prose(l.Text, explanation)
	if s.Rechecking {
		p.Add(l.Muted.Render("Asking again" + l.Glyphs.Ellipsis))
	}
	if s.Starting {
		p.Add(l.Running.Render("Starting Ollama" + l.Glyphs.Ellipsis))
	}
	if s.Pull.Model != "" {
		p.Add(l.Running.Render(l.Cut(wording.Pulling(s.Pull), p.Width)))
	}
	p.heading("What to do")
	wanted := cmp.Or(trouble.Pull.Line(), model, wording.SuggestedModel)
	switch trouble.Kind {
	case prompt.TroubleUnreachable:
		p.command("ollama serve", "start it on this computer")
		if trouble.Start {
			p.key(w.keys.Hint("start it from here", "chat.get_model"))
		}
		p.command("replan --host HOST:PORT", "or use another host (--host or OLLAMA_HOST)")
		if !p.brief && !trouble.Start {
			p.command("ollama.com/download", "download it")
		}
	case prompt.TroubleNoModels:
		p.command("ollama pull "+wanted, "get one that plans well")
	case prompt.TroubleMissing:
		p.command("ollama pull "+wanted, "get it")
		p.key(w.keys.Hint("take one of "+untrusted.Join(trouble.Models, ", ").Line(), "models"))
	case prompt.TroubleUnfit:
		p.command("ollama pull "+cmp.Or(trouble.Pull.Line(), wording.SuggestedModel), "get one that can use tools")
		p.key(w.keys.Hint("choose another", "models"))
	}
	if trouble.Kind == prompt.TroubleNoModels || trouble.Kind == prompt.TroubleMissing || trouble.Kind == prompt.TroubleUnfit {
		p.key(w.keys.Hint("pull it from here, or another", "models.pull"))
	}
	p.key(w.keys.Hint("try again", "look"))
	if s.Session.Planner.ByWords() {
		p.heading("Without a model")
		p.command("find TODO", "also: what is X, where is X used, rename X to Y, run the tests, commit")
	}
	p.command("replan demo", "a whole session with nothing installed")
}

// describeWorkspace names the folder, the branch, the model, the tools and the
// project's notes.
func (w *welcome) describeWorkspace(p *page, s State) {
	if p.brief && s.Session.Problem != "" {
		return
	}
	l := w.styles
	p.gap()
	if notes := s.Session.Instructions.Line(); notes != "" && (p.brief || w.options.Intro != "") {
		p.note(l.Faint.Render(l.Glyphs.Separator), wording.NotesWords+notes)
	}
	if w.options.Intro != "" || !s.Reported || w.options.Replay {
		return
	}
	fact := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		if len(parts) > 0 {
			p.labeled(name, draw.Wrap(strings.Join(parts, " "+l.Glyphs.Separator+" "), p.room())...)
		}
	}
	place := draw.ShortPath(s.Session.Workspace.Line(), w.options.Home)
	if b := s.Session.Branch.Line(); b != "" {
		place += " " + l.Glyphs.Branch + " " + b
	}
	fact("folder", strings.TrimSpace(place))
	if name := s.Model().Line(); name != "" {
		window := ""
		if s.Session.ContextWindow > 0 {
			window = wording.WindowSize(s.Session.ContextWindow) + " context"
		}
		fact("model", name, window)
	}
	ready := 0
	for _, server := range s.Session.Servers {
		if server.State == plan.ServerReady {
			ready++
		}
	}
	if ready > 0 {
		fact("tools", english.Count(s.Session.Tools, "tool")+" of "+english.Count(ready, "server"))
	}
	fact("notes", s.Session.Instructions.Line())
}
