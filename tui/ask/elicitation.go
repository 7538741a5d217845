package ask

import (
	"errors"
	"net/url"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/form"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Elicitation is a question that a server asks in the middle of a call: a form, or a
// page to open.
type Elicitation struct {
	Run    string
	Ask    event.ElicitationRequested
	Fields []form.Field
}

// elicitation returns an open question of a run. Its form was checked when it came.
func elicitation(run string, d event.ElicitationRequested) Elicitation {
	e := Elicitation{Run: run, Ask: d}
	if d.URL == "" {
		e.Fields, _ = form.Parse(d.Schema)
	}
	return e
}

func (e Elicitation) id() string { return e.Run + " elicitation " + e.Ask.ID }
func (e Elicitation) of() string { return e.Run }
func (e Elicitation) on() string { return e.Ask.Step }

func (e Elicitation) sign(l *draw.Styles) (string, lipgloss.Style) { return l.Glyphs.Gate, l.Warning }

// Name returns the kind of request.
func (e Elicitation) Name() string { return "Question of a server" }

func (e Elicitation) about() []string {
	return []string{untrusted.Line(e.Ask.Server), wording.StepWords(e.Ask.Step)}
}

// Brief returns the step, the server and its question, for a list of questions.
func (e Elicitation) Brief() (step, what, args string) {
	return wording.StepWords(e.Ask.Step), untrusted.Line(e.Ask.Server) + " asks", e.Ask.Message.Line()
}

func (e Elicitation) answer(action plan.ElicitationAction, content map[string]any) session.Command {
	return session.AnswerElicitation{Run: e.Run, ID: e.Ask.ID, Action: action, Content: content}
}

func (e Elicitation) choices(k *keymap.Map) []choice {
	accept := choice{id: "gate.once", does: "accept", short: "accept", send: e.answer(plan.ElicitationAccept, nil), allows: true}
	fill := choice{id: "question.edit", does: "fill in the form", short: "fill in", form: e.formFields()}
	switch {
	case e.Ask.URL != "":
		accept.does, accept.short = "open the page in the browser", "open"
		fill.hidden, fill.refuse = true, "There is no form: "+k.Name("gate.once")+" opens the page."
	case len(e.Fields) > 0:
		accept.hidden, accept.refuse = true, k.LeadingName("question.edit")+" fills in the form."
	default:
		fill.hidden, fill.refuse = true, "The form has no fields."
	}
	return []choice{
		fill, accept,
		{id: "gate.deny", does: "decline", short: "decline", send: e.answer(plan.ElicitationDecline, nil)},
		{id: "question.abort", does: "cancel", short: "cancel", send: e.answer(plan.ElicitationCancel, nil)},
	}
}

func (e Elicitation) formFields() []draw.FormField {
	var out []draw.FormField
	for _, f := range e.Fields {
		about := strings.TrimSpace(f.Hint() + "\n" + f.Description.Line())
		out = append(out, draw.FormField{Name: f.Name, Label: f.Label(), About: about, Text: f.DefaultText()})
	}
	return out
}

// with sends the typed texts of the form if they fit its fields.
func (e Elicitation) with(typed map[string]any) (session.Command, error) {
	texts := map[string]string{}
	for name, value := range typed {
		text, ok := value.(string)
		if !ok {
			return nil, errors.New(untrusted.Line(name) + " is no text")
		}
		texts[name] = text
	}
	content, err := form.ReadAll(e.Fields, texts)
	if err != nil {
		return nil, err
	}
	return e.answer(plan.ElicitationAccept, content), nil
}

func (e Elicitation) resends() string { return "send the answer" }

// notes warns of what the question may lead to.
func (e Elicitation) notes(l *draw.Styles, width int) []string {
	var lines []string
	for _, warning := range []string{form.Warning(e.Fields), strangeHost(e.Ask.URL)} {
		if warning != "" {
			lines = append(lines, draw.Paint(l.Warning, draw.Wrap("beware: "+warning, width))...)
		}
	}
	return append(lines, l.Faint.Render(l.Cut("the server's own words; what you send goes to it", width)))
}

// strangeHost warns of a host that may pretend to be another.
func strangeHost(page string) string {
	u, err := url.Parse(page)
	switch {
	case page == "" || err != nil:
		return ""
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r >= 0x80 }), strings.Contains(u.Host, "xn--"):
		return "the host has letters that look like others"
	case u.Scheme == "http":
		return "the page is not encrypted"
	}
	return ""
}

// write writes the question in the words of the server, and its fields or the whole
// address of its page.
func (e Elicitation) write(l *draw.Styles, d *draw.Document, _ bool) page {
	d.Field("server", l.Strong, untrusted.Line(e.Ask.Server))
	d.Field("asks", l.Text, e.Ask.Message.Visible())
	if e.Ask.URL != "" {
		from := len(d.Lines)
		if u, err := url.Parse(e.Ask.URL); err == nil {
			d.Field("host", l.Strong, untrusted.Line(u.Host))
		}
		d.Field("page", l.Text, untrusted.Line(e.Ask.URL))
		return page{must: everyLine(from, len(d.Lines))}
	}
	if len(e.Fields) > 0 {
		d.Heading("form")
	}
	for _, f := range e.Fields {
		words := f.Hint()
		if text := f.DefaultText(); text != "" {
			words = strings.TrimPrefix(words+"; "+untrusted.Line(text)+" unless you change it", "; ")
		}
		if about := f.Description.Line(); about != "" {
			words = strings.TrimPrefix(words+": "+about, ": ")
		}
		style := l.Text
		if f.Secret {
			style = l.Warning
		}
		d.Item(l.Accent.Render(f.Label())+"  ", style, words)
	}
	return page{}
}
