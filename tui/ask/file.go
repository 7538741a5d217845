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

// gate returns the id of the gate of the call.
func (m FileMsg) gate() string { return m.edit.gate.id() }

// EditedMsg holds the file that the editor left.
type EditedMsg struct {
	edit *fileEdit
	text string
	err  error
}

// fileEditor edits calls by way of the files they write, in the user's editor. It keeps the
// texts that did not become the call.
type fileEditor struct {
	keys    *keymap.Map
	queue   *queue
	command []string          // the user's editor with its arguments; none if empty
	edit    *fileEdit         // under way; nil for none
	unsent  map[string]unsent // by gate id
}

// refusal returns why the call at a gate cannot be edited as a file.
func (e *fileEditor) refusal(gate OpenGate) string {
	switch {
	case !gate.Ask.Trusted || gate.Ask.Tool != "fs.patch" && gate.Ask.Tool != "fs.write":
		return "Only fs.patch and fs.write open in the editor; " + e.keys.Name("gate.edit") + " edits the arguments."
	case len(gate.Ask.Hashes) != 1:
		return "The editor opens one file, and this call changes " + english.Count(len(gate.Ask.Hashes), "file") + "; " + e.keys.Name("gate.edit") + " edits the arguments."
	case len(e.command) == 0:
		return editor.Unset
	default:
		return ""
	}
}

// setCommand sets the user's editor with its arguments; none if empty.
func (e *fileEditor) setCommand(command []string) { e.command = command }

// busy reports whether an edit is under way.
func (e *fileEditor) busy() bool { return e.edit != nil }

// begin asks for the file as it would be after the call at a gate with these arguments.
func (e *fileEditor) begin(gate OpenGate, args map[string]any) keymap.Requests {
	e.edit = &fileEdit{gate: gate, args: args}
	return keymap.Requests{e.edit.preview(args)}
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
func (e *fileEditor) away(f *fileEdit) string {
	switch {
	case !e.queue.has(f.gate.id()):
		return "the gate has closed"
	case !e.queue.is(f.gate.id()):
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
func (e *fileEditor) leave() tea.Cmd {
	texts := map[string]unsent{}
	for id, u := range e.unsent {
		if !e.queue.has(id) && (e.edit == nil || e.edit.gate.id() != id) {
			texts[id] = u
			delete(e.unsent, id)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return func() tea.Msg {
		var notes []string
		for id, u := range texts {
			words, kept := u.save("the gate has closed")
			notes = append(notes, words)
			if kept {
				delete(texts, id)
			}
		}
		return KeptMsg{strings.Join(notes, " "), texts}
	}
}

// left takes the answer to leave. What could not be kept is left again later.
func (e *fileEditor) left(m KeptMsg) keymap.Requests {
	maps.Copy(e.unsent, m.lost)
	return keymap.ShowFooter(m.words)
}

// leaveAll leaves the unsent texts for gates that still wait in files of their own, since
// the screen ends, and says where.
func (e *fileEditor) leaveAll() []string {
	var words []string
	for _, id := range slices.Sorted(maps.Keys(e.unsent)) {
		where, _ := e.unsent[id].save("its gate was still open")
		words = append(words, where)
	}
	clear(e.unsent)
	return words
}

// saveUnsent saves the unsent text for a gate in a file of its own, and says why.
func (e *fileEditor) saveUnsent(gate, why string) keymap.Requests {
	words, kept := e.unsent[gate].save(why)
	if kept {
		delete(e.unsent, gate)
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
func (e *fileEditor) again() string {
	return " " + e.keys.LeadingName("gate.editor") + " opens your text again."
}

// change takes the answer to begin or edited: it opens the editor, or returns the call that
// makes the edited file.
func (e *fileEditor) change(m FileMsg) (next keymap.Requests, call session.Command) {
	f := e.edit
	if f == nil || m.edit != f {
		return nil, nil
	}
	e.edit = nil
	if f.next != nil {
		return e.send(m)
	}
	return e.open(m), nil
}

// open opens the editor on the file as the call would leave it, or on the
// unsent text that was made from the same file.
func (e *fileEditor) open(m FileMsg) keymap.Requests {
	f, text := m.edit, m.file.After
	u, again := e.unsent[f.gate.id()]
	why := e.away(f)
	switch {
	case why != "" && again:
		return e.saveUnsent(f.gate.id(), why)
	case why != "":
		return keymap.ShowFooter("The editor did not open: " + why + ".")
	case m.err != nil && again:
		return e.saveUnsent(f.gate.id(), m.err.Error())
	case m.err != nil:
		return keymap.ShowFooter(untrusted.Line("The call is unchanged: " + m.err.Error()))
	case again && (u.file.Path != m.file.Path || u.file.Hash != m.file.Hash):
		return e.saveUnsent(f.gate.id(), u.file.Path+" changed meanwhile")
	case again:
		text = u.text
	}
	e.edit, f.file = f, m.file
	return keymap.Requests{
		editor.Open(e.command, path.Base(f.file.Path), text, firstChanged(f.file.Before, text), func(text string, err error) tea.Msg {
			return EditedMsg{f, text, err}
		}),
	}
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

// edited takes the file that the editor left, and asks what the call that makes it would do now.
// It reports false if the file is of an earlier edit.
func (e *fileEditor) edited(m EditedMsg) (next keymap.Requests, taken bool) {
	f := e.edit
	if f == nil || m.edit != f {
		return nil, false
	}
	e.edit = nil
	why, edited := e.away(f), m.text != f.file.After
	delete(e.unsent, f.gate.id())
	if edited {
		e.unsent[f.gate.id()] = unsent{m.text, f.file}
	}
	switch {
	case why != "" && edited:
		next = e.saveUnsent(f.gate.id(), why)
	case why != "":
		next = keymap.ShowFooter("You changed nothing, and " + why + ".")
	case m.err != nil:
		words := untrusted.Line("The call is unchanged: " + m.err.Error() + ".")
		if edited {
			words += e.again()
		}
		next = keymap.ShowFooter(words)
	case !edited:
		next = keymap.ShowFooter("No changes: the call stays as it was.")
	case m.text == f.file.Before && f.file.Hash != "":
		delete(e.unsent, f.gate.id())
		next = keymap.ShowFooter("That is the file as it is now, and nothing to allow: the call is unchanged; " + e.keys.Name("gate.deny") + " denies it.")
	case !utf8.ValidString(m.text):
		next = keymap.ShowFooter("The text is not UTF-8: the call is unchanged." + e.again())
	default:
		e.edit, f.next = f, argsFor(f.gate.Ask.Tool, f, m.text)
		next = keymap.Requests{f.preview(f.next)}
	}
	return next, true
}

// send returns the call that makes the edited file, unless the file changed on
// disk while it was edited.
func (e *fileEditor) send(m FileMsg) (next keymap.Requests, call session.Command) {
	f := m.edit
	if why := e.away(f); why != "" {
		return e.saveUnsent(f.gate.id(), why), nil
	}
	if m.err != nil {
		return keymap.ShowFooter(untrusted.Line("The call is unchanged: "+m.err.Error()+".") + e.again()), nil
	}
	if m.file.Hash != f.file.Hash {
		return e.saveUnsent(f.gate.id(), f.file.Path+" changed on disk meanwhile"), nil
	}
	answer, err := e.queue.current().with(f.next)
	if err != nil {
		return keymap.ShowFooter(untrusted.Line("Not sent: "+err.Error()+".") + e.again()), nil
	}
	delete(e.unsent, f.gate.id())
	return nil, answer
}

// argsFor returns the arguments of a call of tool that makes the file of f text.
func argsFor(tool string, f *fileEdit, text string) map[string]any {
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
