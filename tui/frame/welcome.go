package frame

import (
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/telling"
)

// Welcome returns the page shown in the empty chat: what the user may ask, or
// why no model answers and what to do.
func (f *Frame) Welcome(s State, width, height int) []string {
	p := &page{Document: draw.Document{Look: f.look, Width: width}, brief: height < 16}
	if f.options.Intro != "" {
		p.add(draw.Texts(f.markdown.Lines(f.options.Intro, width))...)
	}
	switch {
	case s.Session.Problem != "" && s.Session.Trouble.Kind != "":
		f.explainTrouble(p, s)
	case s.Session.Problem != "":
		p.gap()
		p.note(f.look.Warning.Render(f.look.Glyphs.Warning), s.Session.Problem.Line())
		if s.Session.Planner.ByWords() {
			p.gap()
			p.note(f.look.Faint.Render(f.look.Glyphs.Separator), agent.WithoutModel+telling.UndoHint)
		}
	case f.options.Intro == "" && !f.options.Replay && s.Reported:
		f.greet(p, s)
	}
	if words := telling.Interrupted(s.Past, s.Session.Workspace, f.keys.Name("runs")); words != "" && !f.options.Replay {
		p.gap()
		p.Prose(f.look.Muted, words)
	}
	f.describeWorkspace(p, s)
	return p.Lines
}

// greet introduces the program and gives example goals.
func (f *Frame) greet(p *page, s State) {
	planner := "a model"
	if name := s.Model().Line(); name != "" {
		planner = name
	}
	p.Prose(f.look.Text, "Type a goal. "+planner+" plans it; then the plan runs.")
	p.heading("For example")
	examples := f.options.Examples
	if len(examples) == 0 {
		examples = []string{"explain what this project does", "run the tests", "find TODO"}
	}
	for _, goal := range examples {
		p.command(goal, "")
	}
	p.gap()
	p.keys(f.keys.Hint("send", "chat.send"), f.keys.Hint("everything", "palette"), f.keys.Hint("runs", "runs"), f.keys.Hint("keys", "help"))
}

// explainTrouble explains why no model answers, and what to do.
func (f *Frame) explainTrouble(p *page, s State) {
	l, trouble := f.look, s.Session.Trouble
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
	p.add(l.Warning.Bold(true).Render(l.Glyphs.Warning + " " + title))
	p.Prose(l.Text, explanation)
	if s.Looking {
		p.add(l.Muted.Render("Asking again" + l.Glyphs.Ellipsis))
	}
	if s.Pull.Model != "" {
		p.add(l.Running.Render(l.Cut(telling.Pulling(s.Pull), p.Width)))
	}
	p.heading("What to do")
	wanted := telling.SuggestedModel
	if model != "" {
		wanted = model
	}
	switch trouble.Kind {
	case prompt.TroubleUnreachable:
		p.command("ollama serve", "start it on this computer")
		p.command("replan --host HOST:PORT", "or use another host (--host or OLLAMA_HOST)")
		if !p.brief {
			p.command("ollama.com/download", "download it")
		}
	case prompt.TroubleNoModels:
		p.command("ollama pull "+wanted, "get one that plans well")
	case prompt.TroubleMissing:
		p.command("ollama pull "+wanted, "get it")
		p.key(f.keys.Hint("take one of "+untrusted.Join(trouble.Models, ", ").Line(), "models"))
	case prompt.TroubleUnfit:
		p.command("ollama pull "+telling.SuggestedModel, "get one that can use tools")
		p.key(f.keys.Hint("choose another", "models"))
	}
	if trouble.Kind == prompt.TroubleNoModels || trouble.Kind == prompt.TroubleMissing || trouble.Kind == prompt.TroubleUnfit {
		p.key(f.keys.Hint("pull it from here, or another", "models.pull"))
	}
	p.key(f.keys.Hint("try again", "look"))
	if s.Session.Planner.ByWords() {
		p.heading("Without a model")
		p.command("find TODO", "also: what is X, where is X used, rename X to Y, run the tests, commit")
	}
	p.command("replan demo", "a whole session with nothing installed")
}

// describeWorkspace names the project's notes, the branch, the tools and the
// servers.
func (f *Frame) describeWorkspace(p *page, s State) {
	if p.brief && s.Session.Problem != "" {
		return
	}
	l := f.look
	if notes := s.Session.Instructions.Line(); notes != "" {
		p.gap()
		p.note(l.Faint.Render(l.Glyphs.Separator), telling.NotesWords+notes)
	}
	if f.options.Intro != "" || !s.Reported || f.options.Replay {
		return
	}
	var parts []string
	if b := s.Session.Branch.Line(); b != "" {
		parts = append(parts, "on "+l.Glyphs.Branch+" "+b)
	}
	ready := 0
	for _, server := range s.Session.Servers {
		if server.State == plan.ServerReady {
			ready++
		}
	}
	if ready > 0 {
		parts = append(parts, english.Count(s.Session.Tools, "tool")+" of "+english.Count(ready, "server"))
	}
	if len(parts) > 0 {
		p.gap()
		p.Prose(l.Faint, strings.Join(parts, " "+l.Glyphs.Separator+" "))
	}
}
