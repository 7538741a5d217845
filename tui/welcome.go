package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/chat"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// suggestedModel is a model that plans well on an ordinary machine.
const suggestedModel = "qwen3:8b"

// welcome returns the page shown in the empty chat: what the user may ask, or
// why no model answers and what to do.
func (m *Model) welcome(width, height int) []string {
	l := m.look
	page := &page{look: l, width: width, brief: height < 16}
	if m.options.Intro != "" {
		page.lines = append(page.lines, draw.Texts(m.chat.Markdown.Lines(m.options.Intro, width))...)
	}
	switch {
	case m.status.Problem != "" && m.status.Trouble.Kind != "":
		m.helpOut(page)
	case m.status.Problem != "":
		page.gap()
		page.add(draw.Texts(m.chat.Note("warn", m.chat.Problem).Typeset(width))...)
		if m.chat.Words {
			page.gap()
			page.add(draw.Texts(m.chat.Note("info", agent.WithoutModel).Typeset(width))...)
		}
	case m.options.Intro == "" && !m.options.Replay && m.heardNow:
		m.greet(page)
	}
	m.found(page)
	return page.lines
}

// greet introduces the program and gives example goals.
func (m *Model) greet(p *page) {
	l := m.look
	with := "a model"
	if name := untrusted.Line(m.modelName()); name != "" {
		with = name
	}
	p.prose(l.Text, "Say what shall be done: "+with+" plans it, and the plan runs beside this chat.")
	p.heading("For example")
	for _, goal := range m.examples() {
		p.command(goal, "")
	}
	p.gap()
	p.keys(m.keys.Hint("send", "chat.send"), m.keys.Hint("everything", "palette"), m.keys.Hint("runs", "runs"), m.keys.Hint("keys", "help"))
}

// examples returns goals that fit this folder.
func (m *Model) examples() []string {
	if len(m.options.Examples) > 0 {
		return m.options.Examples
	}
	return []string{"explain what this project does", "run the tests", "find TODO"}
}

// helpOut explains why no model answers, and what to do.
func (m *Model) helpOut(p *page) {
	l, t := m.look, m.status.Trouble
	p.gap()
	title := "No model answers yet"
	says := ""
	model := untrusted.Line(t.Model)
	switch t.Kind {
	case prompt.TroubleUnreachable:
		says = "Ollama does not answer at " + untrusted.Line(t.Host) + "."
	case prompt.TroubleNoModels:
		says = "Ollama at " + untrusted.Line(t.Host) + " runs, but has no model yet."
	case prompt.TroubleMissing:
		title = "The model is not there"
		says = "Ollama at " + untrusted.Line(t.Host) + " has no " + model + "."
	default:
		says = untrusted.FirstLine(m.status.Problem)
	}
	p.add(l.Warning.Bold(true).Render(l.Glyphs.Warning + " " + title))
	p.prose(l.Text, says)
	if m.servers.looking {
		p.add(l.Muted.Render("Asking again" + l.Glyphs.Ellipsis))
	}
	p.heading("What to do")
	get := suggestedModel
	if model != "" {
		get = model
	}
	switch t.Kind {
	case prompt.TroubleUnreachable:
		p.command("ollama serve", "start it on this machine")
		p.command("replan --host HOST:PORT", "or name the machine it runs on, as OLLAMA_HOST does")
		if !p.brief {
			p.command("ollama.com/download", "where it comes from")
		}
	case prompt.TroubleNoModels:
		p.command("ollama pull "+get, "get one that plans well")
	case prompt.TroubleMissing:
		p.command("ollama pull "+get, "get it")
		p.press(m.keys.Hint("take one of "+untrusted.Line(strings.Join(t.Models, ", ")), "models"))
	case prompt.TroubleUnfit:
		p.command("ollama pull "+suggestedModel, "get one that can use tools")
		p.press(m.keys.Hint("choose another", "models"))
	}
	p.press(m.keys.Hint("try again", "look"))
	if m.chat.Words {
		p.heading("Without a model")
		p.command("find TODO", "also: what is X, where is X used, rename X to Y, run the tests, commit")
	}
	p.command("replan demo", "a whole session with nothing installed")
}

// found describes the folder: notes, branch, tools and servers.
func (m *Model) found(p *page) {
	if p.brief && m.status.Problem != "" {
		return
	}
	l := m.look
	if notes := m.chat.Notes; notes != "" {
		p.gap()
		p.add(draw.Texts(m.chat.Note("info", chat.NotesWords+notes).Typeset(p.width))...)
	}
	if m.options.Intro != "" || !m.heardNow || m.options.Replay {
		return
	}
	var parts []string
	if b := untrusted.Line(m.status.Branch); b != "" {
		parts = append(parts, "on "+l.Glyphs.Branch+" "+b)
	}
	servers := 0
	for _, s := range m.status.Servers {
		if s.State == plan.ServerReady {
			servers++
		}
	}
	if servers > 0 {
		parts = append(parts, english.Count(m.status.Tools, "tool")+" of "+english.Count(servers, "server"))
	}
	if len(parts) > 0 {
		p.gap()
		p.prose(l.Faint, strings.Join(parts, " "+l.Glyphs.Separator+" "))
	}
}

// helpless reports whether the chat shows the help page for a missing model.
func (m *Model) helpless() bool { return m.status.Trouble.Kind != "" && m.chat.Greets() }

// lookAgain asks the session to look again for a model and its servers.
func (m *Model) lookAgain() tea.Cmd {
	m.servers.looking = true
	m.sayUntilHeard("Looking for the model and the servers again" + m.look.Glyphs.Ellipsis)
	m.chat.Touch()
	return m.outbox.send(runner.Look{})
}

// page is text for new users: prose, headings, commands to type, keys.
type page struct {
	look  *draw.Look
	width int
	brief bool // for little space
	lines []string
}

func (p *page) add(lines ...string) { p.lines = append(p.lines[:len(p.lines):len(p.lines)], lines...) }

// gap adds a blank line unless there is one already.
func (p *page) gap() {
	if n := len(p.lines); n > 0 && p.lines[n-1] != "" && !p.brief {
		p.add("")
	}
}

func (p *page) prose(style lipgloss.Style, text string) {
	p.add(draw.Paint(style, draw.Wrap(text, p.width))...)
}

func (p *page) heading(text string) {
	p.gap()
	if !p.brief {
		p.add(p.look.Muted.Render(text))
	}
}

// command adds a command to type and its purpose.
func (p *page) command(text, about string) { p.entry(p.look.Code, text, about) }

// press adds a key and its effect.
func (p *page) press(h keymap.Hint) { p.entry(p.look.Key, h.Label, h.Does) }

func (p *page) entry(style lipgloss.Style, text, about string) {
	l := p.look
	const column, indented = 26, 2
	if about == "" {
		p.add("  " + style.Render(l.Cut(text, p.width-indented)))
		return
	}
	if p.brief || p.width < 2*column {
		p.add("  " + style.Render(l.Cut(text, p.width-indented)) + l.Cut("  "+l.Faint.Render(about), max(p.width-indented-draw.VisibleWidth(text), 0)))
		return
	}
	room := p.width - column - indented
	for i, line := range draw.Wrap(about, room) {
		head := ""
		if i == 0 {
			head = style.Render(l.Cut(text, column-2))
		}
		p.add("  " + l.Fit(head, column) + l.Faint.Render(line))
	}
}

// keys adds several keys on one line.
func (p *page) keys(hints ...keymap.Hint) {
	l := p.look
	var parts []string
	for _, h := range hints {
		parts = append(parts, l.Key.Render(h.Label)+" "+l.Faint.Render(h.Does))
	}
	p.add(draw.Flow(parts, "  ", p.width)...)
}
