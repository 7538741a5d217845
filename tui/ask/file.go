package ask

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/editor"
	"replan/tui/keymap"
)

// fileEdit is the edit of a call by way of the file as it would be after it. Its
// messages carry it, so that none is taken for one of another edit.
type fileEdit struct {
	gate OpenGate
	args map[string]any
	file plan.FileChange // by the call; its zero value until the answer to a query comes
	next map[string]any  // arguments that make the file the edited text; nil before
}

// unsent is a text that the editor left, and that did not become the call.
type unsent struct {
	text string
	file plan.FileChange // that it was made from
}

// FileMsg carries what a call would do to the file that is edited.
type FileMsg struct {
	edit *fileEdit
	file plan.FileChange
	err  error
}

// EditedMsg holds the file that the editor left.
type EditedMsg struct {
	edit *fileEdit
	text string
	err  error
}

// noFile returns why the displayed request cannot be edited as a file.
func (g *Dialog) noFile() string {
	if g.queue.count() == 0 {
		return "No gate and no question is open."
	}
	gate, ok := g.current().(OpenGate)
	switch {
	case !ok || gate.Session:
		return g.noSuchAnswer("gate.editor")
	case !gate.Ask.Trusted || gate.Ask.Tool != "fs.patch" && gate.Ask.Tool != "fs.write":
		return "Only fs.patch and fs.write open in the editor; " + g.keys.Name("gate.edit") + " edits the arguments."
	case len(gate.Ask.Hashes) != 1:
		return "The editor opens one file, and this call changes " + english.Count(len(gate.Ask.Hashes), "file") + "; " + g.keys.Name("gate.edit") + " edits the arguments."
	case len(g.command) == 0:
		return editor.Unset
	default:
		return ""
	}
}

// editFile asks for the file as it would be after the displayed call.
func (g *Dialog) editFile() keymap.Request {
	if g.file != nil {
		return keymap.ShowFooter("One file at a time: the last one is still being checked.")
	}
	gate := g.current().(OpenGate) //nolint:forcetypeassert // noFile says so
	args := gate.Ask.Args
	if g.editor != nil {
		if args = g.editor.Args(); args == nil {
			return keymap.Request{}
		}
	}
	g.file = &fileEdit{gate: gate, args: args}
	return keymap.Request{Ask: g.file.preview(args)}
}

// preview asks what the call of f would do to its file with args.
func (f *fileEdit) preview(args map[string]any) keymap.Query {
	return func(ctx context.Context, s session.Queries) tea.Msg {
		preview, err := s.PreviewCall(ctx, f.gate.Run, f.gate.Ask.Gate, args)
		if err == nil && preview.File == nil {
			err = fmt.Errorf("%s changes other than one text file: edit its arguments", f.gate.Ask.Tool)
		}
		if err != nil {
			return FileMsg{f, plan.FileChange{}, err}
		}
		return FileMsg{f, *preview.File, nil}
	}
}

// away returns why the gate of f takes no answer now, or "" if it does.
func (g *Dialog) away(f *fileEdit) string {
	switch {
	case !g.queue.has(f.gate.id()):
		return "the gate has closed"
	case !g.queue.is(f.gate.id()):
		return "another request is shown"
	default:
		return ""
	}
}

// KeptMsg says where the texts for gates that closed without them are, and holds those
// that could not be kept.
type KeptMsg struct {
	words string
	lost  map[string]unsent // by gate
}

// leave leaves the unsent texts for gates that no longer wait in files of their own.
// That of an edit under way is left when it ends.
func (g *Dialog) leave() tea.Cmd {
	texts := map[string]unsent{}
	for id, u := range g.unsent {
		if !g.queue.has(id) && (g.file == nil || g.file.gate.id() != id) {
			texts[id] = u
			delete(g.unsent, id)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return func() tea.Msg {
		var said []string
		for id, u := range texts {
			words, kept := u.save("the gate has closed")
			said = append(said, words)
			if kept {
				delete(texts, id)
			}
		}
		return KeptMsg{strings.Join(said, " "), texts}
	}
}

// left takes the answer to leave. What could not be kept is left again later.
func (g *Dialog) left(m KeptMsg) keymap.Request {
	maps.Copy(g.unsent, m.lost)
	return keymap.ShowFooter(m.words)
}

// Leave leaves the unsent texts for gates that still wait in files of their own, since
// the screen ends, and says where.
func (g *Dialog) Leave() []string {
	var words []string
	for _, id := range slices.Sorted(maps.Keys(g.unsent)) {
		where, _ := g.unsent[id].save("its gate was still open")
		words = append(words, where)
	}
	clear(g.unsent)
	return words
}

// saveUnsent saves the unsent text for a gate in a file of its own, and says why.
func (g *Dialog) saveUnsent(gate, why string) keymap.Request {
	words, kept := g.unsent[gate].save(why)
	if kept {
		delete(g.unsent, gate)
	}
	return keymap.ShowFooter(words)
}

// save writes the text to a file of its own, and says where and why.
func (u unsent) save(why string) (words string, kept bool) {
	file, err := editor.Save(path.Base(u.file.Path), u.text)
	if err != nil {
		return untrusted.Line("Your text could not be kept: " + err.Error() + "; " + why + "."), false
	}
	return untrusted.Line("Your text is in " + file + ": " + why + "."), true
}

// again says how to go on with an unsent text.
func (g *Dialog) again() string {
	return " " + g.keys.LeadingName("gate.editor") + " opens your text again."
}

// fileChange takes the answer to editFile or fileEdited.
func (g *Dialog) fileChange(m FileMsg) keymap.Request {
	switch f := g.file; {
	case f == nil || m.edit != f:
		return keymap.Request{}
	case f.next != nil:
		g.file = nil
		return g.sendFile(m)
	default:
		g.file = nil
		return g.openFile(m)
	}
}

// openFile opens the editor on the file as the call would leave it, or on the
// unsent text that was made from the same file.
func (g *Dialog) openFile(m FileMsg) keymap.Request {
	f, text := m.edit, m.file.After
	u, again := g.unsent[f.gate.id()]
	why := g.away(f)
	switch {
	case why != "" && again:
		return g.saveUnsent(f.gate.id(), why)
	case why != "":
		return keymap.ShowFooter("The editor did not open: " + why + ".")
	case m.err != nil && again:
		return g.saveUnsent(f.gate.id(), m.err.Error())
	case m.err != nil:
		return keymap.ShowFooter(untrusted.Line("The call is unchanged: " + m.err.Error()))
	case again && (u.file.Path != m.file.Path || u.file.Hash != m.file.Hash):
		return g.saveUnsent(f.gate.id(), u.file.Path+" changed meanwhile")
	case again:
		text = u.text
	}
	g.file, f.file = f, m.file
	return keymap.Request{Cmd: editor.Open(g.command, path.Base(f.file.Path), text, firstChanged(f.file.Before, text), func(text string, err error) tea.Msg {
		return EditedMsg{f, text, err}
	})}
}

// firstChanged returns the number of the first line of after that differs from
// before, at most that of its last line.
func firstChanged(before, after string) int {
	was, is := strings.Split(before, "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	for i, line := range is {
		if i >= len(was) || line != was[i] {
			return i + 1
		}
	}
	return len(is)
}

// fileEdited asks what the call that makes the edited file would do now.
func (g *Dialog) fileEdited(m EditedMsg) keymap.Request {
	f := g.file
	if f == nil || m.edit != f {
		return keymap.Request{}
	}
	g.file = nil
	why, edited := g.away(f), m.text != f.file.After
	delete(g.unsent, f.gate.id())
	if edited {
		g.unsent[f.gate.id()] = unsent{m.text, f.file}
	}
	var w keymap.Request
	switch {
	case why != "" && edited:
		w = g.saveUnsent(f.gate.id(), why)
	case why != "":
		w.Footer = "You changed nothing, and " + why + "."
	case m.err != nil:
		w.Footer = untrusted.Line("The call is unchanged: " + m.err.Error() + ".")
		if edited {
			w.Footer += g.again()
		}
	case !edited:
		w.Footer = "No changes: the call stays as it was."
	case m.text == f.file.Before && f.file.Hash != "":
		delete(g.unsent, f.gate.id())
		w.Footer = "That is the file as it is now, and nothing to allow: the call is unchanged; " + g.keys.Name("gate.deny") + " denies it."
	case !utf8.ValidString(m.text):
		w.Footer = "The text is not UTF-8: the call is unchanged." + g.again()
	default:
		g.file, f.next = f, writing(f.gate.Ask.Tool, f, m.text)
		w.Ask = f.preview(f.next)
	}
	w.Cmd = g.guard.StartStage() // keys typed for the editor answer nothing
	return w
}

// sendFile sends the call that makes the edited file, unless the file changed on
// disk while it was edited.
func (g *Dialog) sendFile(m FileMsg) keymap.Request {
	f := m.edit
	if why := g.away(f); why != "" {
		return g.saveUnsent(f.gate.id(), why)
	}
	if m.err != nil {
		return keymap.ShowFooter(untrusted.Line("The call is unchanged: "+m.err.Error()+".") + g.again())
	}
	if m.file.Hash != f.file.Hash {
		return g.saveUnsent(f.gate.id(), f.file.Path+" changed on disk meanwhile")
	}
	answer, err := g.current().with(f.next)
	if err != nil {
		return keymap.ShowFooter(untrusted.Line("Not sent: "+err.Error()+".") + g.again())
	}
	delete(g.unsent, f.gate.id())
	return keymap.Request{Send: []session.Command{answer}, Answer: true, Cmd: g.answer(f.gate.id())}
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
