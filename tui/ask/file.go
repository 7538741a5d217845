package ask

import (
	"maps"
	"path"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/editor"
	"replan/tui/keymap"
)

// fileEdit is the edit of a call by way of the file as it would be after it.
type fileEdit struct {
	id   string // of the gate
	args map[string]any
	file plan.FileChange // by the call; its zero value until the answer to a query comes
	text string          // left by the editor, of the call that was not sent; "" for none
	next map[string]any  // arguments that make the file text; nil before
}

// EditedMsg holds the file that the editor left.
type EditedMsg struct {
	id   string
	text string
	err  error
}

// noFile returns why the displayed request cannot be edited as a file.
func (g *Dialog) noFile() string {
	if len(g.queue) == 0 {
		return "No gate and no question is open."
	}
	gate, ok := g.current().(OpenGate)
	switch {
	case !ok || gate.Session:
		return noSuchAnswer
	case !gate.Ask.Trusted || gate.Ask.Tool != "fs.patch" && gate.Ask.Tool != "fs.write":
		return "Only fs.patch and fs.write open in the editor; " + g.keys.Name("gate.edit") + " edits the arguments."
	case len(gate.Ask.Hashes) != 1:
		return "The editor opens one file, and this call changes " + english.Count(len(gate.Ask.Hashes), "file") + "; " + g.keys.Name("gate.edit") + " edits the arguments."
	case len(g.Editor) == 0:
		return editor.Unset
	default:
		return ""
	}
}

// editFile asks for the file as it would be after the displayed call.
func (g *Dialog) editFile() keymap.Request {
	gate := g.current().(OpenGate) //nolint:forcetypeassert // noFile says so
	args := gate.Ask.Args
	if g.editor != nil {
		if args = g.editor.Args(); args == nil {
			return keymap.Request{}
		}
	}
	text := ""
	if g.file != nil && g.file.id == gate.id() {
		text = g.file.text // its call was not sent
	}
	g.file = &fileEdit{id: gate.id(), args: args, text: text}
	return keymap.Request{Ask: keymap.QueryFileChange(gate.Run, gate.Ask.Gate, args)}
}

// fileChange takes the answer to editFile, and opens the editor; or that to
// fileEdited, and sends the call.
func (g *Dialog) fileChange(a keymap.AnswerMsg[plan.FileChange]) keymap.Request {
	f := g.file
	if f == nil || len(g.queue) == 0 || g.current().id() != f.id {
		return keymap.Request{} // the gate was answered meanwhile
	}
	if a.Err != nil {
		f.next = nil
		return keymap.ShowFooter(untrusted.Line("The call is unchanged: " + a.Err.Error()))
	}
	if f.next == nil {
		f.file = a.Value
		text := f.text
		if text == "" {
			text = f.file.After
		}
		return keymap.Request{Cmd: editor.Open(g.Editor, path.Base(f.file.Path), text, func(text string, err error) tea.Msg {
			return EditedMsg{f.id, text, err}
		})}
	}
	next := f.next
	f.next = nil
	if a.Value.Hash != f.file.Hash {
		return keymap.ShowFooter(untrusted.Line(f.file.Path) + " changed on disk meanwhile: the call is unchanged. " + g.keys.LeadingName("gate.editor") + " opens your text again.")
	}
	answer, err := g.current().with(next)
	if err != nil {
		return keymap.ShowFooter(untrusted.Line("Not sent: " + err.Error()))
	}
	g.file = nil
	return keymap.Request{Send: []runner.Command{answer}, Answer: true, Cmd: g.answer(f.id)}
}

// fileEdited asks what the call that makes the edited file would do now.
func (g *Dialog) fileEdited(m EditedMsg) keymap.Request {
	f := g.file
	if f == nil || len(g.queue) == 0 || g.current().id() != m.id || f.id != m.id {
		return keymap.ShowFooter("The gate has closed: your text was not used.")
	}
	// Keys typed for the editor answer nothing.
	said := func(words string) keymap.Request { return keymap.Request{Footer: words, Cmd: g.Grace.Start()} }
	gate := g.current().(OpenGate) //nolint:forcetypeassert // editFile says so
	switch {
	case m.err != nil:
		return said(untrusted.Line("The call is unchanged: " + m.err.Error() + "."))
	case m.text == f.file.After:
		return said("You changed nothing: the call is unchanged.")
	case m.text == f.file.Before && f.file.Hash != "":
		return said("That is the file as it is now, and nothing to allow: the call is unchanged; " + g.keys.Name("gate.deny") + " denies it.")
	}
	f.text, f.next = m.text, writing(gate.Ask.Tool, f, m.text)
	w := said("")
	w.Ask = keymap.QueryFileChange(gate.Run, gate.Ask.Gate, f.next)
	return w
}

// writing returns the arguments of a call of tool that makes the file of f text.
func writing(tool string, f *fileEdit, text string) map[string]any {
	if tool == "fs.write" {
		args := maps.Clone(f.args)
		args["text"] = text
		return args
	}
	from := "a/" + f.file.Path
	if f.file.Hash == "" {
		from = "/dev/null"
	}
	diff, _, _ := plan.UnifiedDiff(from, "b/"+f.file.Path, f.file.Before, text)
	return map[string]any{"diff": diff, "hashes": map[string]any{f.file.Path: f.file.Hash}}
}
