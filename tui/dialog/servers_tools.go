package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan/jsontype"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// toolList lists the tools of a server, or of all servers, and searches them.
type toolList struct {
	list
	server    string // whose tools are listed; "" lists those of all
	all       []listedTool
	found     []*listedTool // that match, those with matching names first
	query     string
	searching bool // letters go to the search

	opened *session.OfferedTool // shown in full; nil shows the list
	text   scroll               // of opened
}

// listedTool is a tool with the texts that a search reads.
type listedTool struct {
	session.OfferedTool
	name, text string // in lower case
}

func newToolList(l *draw.Styles, k *keymap.Map) toolList { return toolList{list: newList(l, k)} }

// set stores the tools of all servers.
func (t *toolList) set(tools []session.OfferedTool) {
	before := t.all
	t.all = make([]listedTool, len(tools))
	for i, tool := range tools {
		if i < len(before) && before[i].Server == tool.Server && before[i].Name == tool.Name && before[i].Description == tool.Description {
			t.all[i] = listedTool{tool, before[i].name, before[i].text} // most queries ask for new figures
			continue
		}
		name := strings.ToLower(tool.Server + ":" + tool.Name)
		t.all[i] = listedTool{tool, name, name + " " + strings.ToLower(tool.Description.Line())}
	}
	at := t.At
	t.sift()
	t.Move(at-t.At, len(t.found))
}

// open lists the tools of a server, or of all.
func (t *toolList) open(server string) {
	t.server, t.query, t.searching, t.opened = server, "", false, nil
	t.toFirst()
	t.sift()
}

// sift finds the tools that match the search, the best first.
func (t *toolList) sift() {
	words := strings.Fields(strings.ToLower(t.query))
	holds := func(text string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	}
	t.found = t.found[:0]
	var others []*listedTool
	for i := range t.all {
		switch tool := &t.all[i]; {
		case t.server != "" && tool.Server != t.server:
		case holds(tool.name):
			t.found = append(t.found, tool)
		case holds(tool.text):
			others = append(others, tool)
		}
	}
	t.found = append(t.found, others...)
	t.ChooseFirst()
}

// seek sets the text of the search.
func (t *toolList) seek(text string) {
	t.query = text
	t.sift()
}

// update handles letters of the search and the mouse.
func (t *toolList) update(msg tea.Msg, of draw.Lister) keymap.Requests {
	if text := typed(msg); text != "" && t.searching {
		t.seek(t.query + text)
	}
	if wheel, ok := msg.(tea.MouseWheelMsg); ok && t.opened != nil {
		t.text.by(draw.WheelLines(tea.Mouse(wheel)))
		return nil
	}
	if t.opened != nil {
		return nil
	}
	return t.list.update(msg, of)
}

// actions adds the actions of the list of tools to those of its page.
func (t *toolList) actions(page keymap.Handlers) keymap.Handlers {
	switch {
	case t.opened != nil:
		return page.With(t.text.keys(), toolActions().For(t))
	case t.searching:
		return toolSearchActions().For(t).With(t.Moving(true, len(t.found)), keymap.Searching(t.query, t.seek))
	}
	hs := page.With(t.Moving(false, len(t.found)), toolsActions().For(t))
	if t.query != "" {
		hs = hs.With(foundActions().For(t))
	}
	return hs.First(t.nextKey)
}

// toolsActions are the actions of the list of tools.
func toolsActions() keymap.Table[*toolList] {
	return keymap.Table[*toolList]{
		{ID: "plan.open", Refuse: (*toolList).noTool, Do: keymap.Calls((*toolList).openTool)},
		{ID: "models.think_more", Refuse: (*toolList).noTool, Do: keymap.Calls((*toolList).openTool)},
		{ID: "list.search", Refuse: (*toolList).noSearch, Do: keymap.Calls(func(t *toolList) { t.searching = true })},
	}
}

// foundActions are the other actions of the list while a search hides tools.
func foundActions() keymap.Table[*toolList] {
	return keymap.Table[*toolList]{
		{ID: "dialog.leave", Do: keymap.Calls((*toolList).showAll)},
	}
}

// toolSearchActions are the actions while letters go to the search.
func toolSearchActions() keymap.Table[*toolList] {
	return keymap.Table[*toolList]{
		{ID: "list.choose", Do: keymap.Calls(func(t *toolList) { t.searching = false })},
		{ID: "dialog.leave", Do: keymap.Calls((*toolList).showAll)},
	}
}

// toolActions are the actions of a tool that is shown in full.
func toolActions() keymap.Table[*toolList] {
	return keymap.Table[*toolList]{
		{ID: "dialog.leave", Do: keymap.Calls((*toolList).closeTool)},
		{ID: "models.think_less", Do: keymap.Calls((*toolList).closeTool)},
	}
}

// openTool shows the chosen tool in full.
func (t *toolList) openTool() {
	t.opened = &t.found[t.At].OfferedTool
	t.text.reset()
}

// closeTool returns to the list.
func (t *toolList) closeTool() { t.opened = nil }

// noTool returns why no tool can be shown in full.
func (t *toolList) noTool() string {
	if t.At >= len(t.found) {
		return "There is no tool here."
	}
	return ""
}

// noSearch returns why no tool can be searched for.
func (t *toolList) noSearch() string {
	if len(t.found) == 0 && t.query == "" {
		return "There is no tool to search for."
	}
	return ""
}

// showAll ends the search and lists all tools.
func (t *toolList) showAll() {
	t.searching = false
	t.seek("")
}

// hints lists the keys of the list of tools.
func (t *toolList) hints() []keymap.Hint {
	switch {
	case t.opened != nil:
		return []keymap.Hint{t.Keys.Hint("tools", "dialog.leave"), t.Keys.Hint("scroll", "move.up", "move.down")}
	case t.searching:
		return []keymap.Hint{t.Keys.Hint("done", "list.choose"), t.Keys.Hint("show all", "dialog.leave"), t.Keys.Hint("choose", "list.up", "list.down")}
	}
	return []keymap.Hint{t.Keys.Hint("the tool", "plan.open"), t.Keys.Hint("search", "list.search"), t.Keys.Hint("choose", "move.up", "move.down")}
}

// view draws the tools. empty takes their place if there are none.
func (t *toolList) view(size draw.Rect, width int, title string, empty, message []string) []string {
	l, inner := t.Styles, width-4
	if t.opened != nil {
		t.text.render(l, inner, func(doc *draw.Document) { t.write(doc, *t.opened) })
		lines, note := t.text.visible(max(size.H-2, 1))
		return t.middle(size, width, t.section(title, note, lines))
	}
	foot := slices.Clone(message)
	if t.searching || t.query != "" {
		cursor := ""
		if t.searching {
			cursor = l.Glyphs.Cursor
		}
		foot = append(foot, l.Faint.Render("search ")+l.Strong.Render(l.CutLeft(t.query, inner-8))+l.Accent.Render(cursor))
	}
	c := t.columns(inner)
	v := listView{
		title: title, width: width, count: len(t.found), each: 1, head: c.heads(l, len(t.found)), empty: empty, foot: foot,
		row: func(i int) []string { return []string{t.row(i, inner, c)} },
	}
	if t.At < len(t.found) && size.H >= 14 {
		lines := t.chosenLines(t.found[t.At].OfferedTool, inner)
		v.below = t.section("", "", l.Block(lines, inner, len(lines)))
	}
	return t.list.view(size, v)
}

// chosenLines describes the selected tool in at most four lines.
func (t *toolList) chosenLines(tool session.OfferedTool, width int) []string {
	l := t.Styles
	lines := []string{t.permissions(tool)}
	description := draw.Wrap(strings.TrimSpace(tool.Description.Line()), width)
	if len(description) > 3 {
		description = append(description[:2:2], l.Cut(description[2]+" "+description[3], width))
	}
	return append(lines, draw.Paint(l.Muted, description)...)
}

// toolColumns are the widths of the columns, in cells.
type toolColumns struct {
	name, effect, verdict, tokens int // effect and verdict are 0 on a narrow screen
}

// columns computes the widths of the columns.
func (t *toolList) columns(width int) toolColumns {
	c := toolColumns{effect: 16, verdict: 11, tokens: 8}
	if width < 60 {
		c = toolColumns{}
	}
	c.name = max(width-1-c.effect-c.verdict-c.tokens, 8)
	if width >= 90 { // the description takes the rest
		c.name = min(c.name, 44)
	}
	return c
}

// heads names the columns over a list of count tools.
func (c toolColumns) heads(l *draw.Styles, count int) []string {
	if c.effect == 0 || count == 0 {
		return nil
	}
	return []string{l.Faint.Render(" " + l.Fit(english.Count(count, "tool"), c.name) + l.Fit("effect", c.effect) + l.Fit("gate", c.verdict) + fmt.Sprintf("%*s", c.tokens, "tokens"))}
}

// row draws one tool.
func (t *toolList) row(i, width int, c toolColumns) string {
	l, tool := t.Styles, t.found[i]
	line := l.Line(i == t.At, true)
	name := untrusted.Line(tool.Name)
	if t.server == "" {
		name = untrusted.Line(tool.Server + ":" + tool.Name)
	}
	drawn := line.Cursor + line.Fill(line.Draw(l.Text, l.Cut(name, c.name-1)), c.name)
	if c.effect == 0 {
		return line.Fill(drawn, width)
	}
	effect, style := t.effect(tool.OfferedTool)
	drawn += line.Fill(line.Draw(style, effect), c.effect) + line.Fill(line.Draw(l.Muted, t.verdict(tool.OfferedTool, true)), c.verdict)
	tokens := ""
	if tool.Tokens > 0 {
		tokens = wording.Tokens(tool.Tokens)
	}
	drawn += line.Blank(c.tokens-len(tokens)) + line.Draw(l.Muted, tokens)
	if room := width - draw.VisibleWidth(drawn) - 2; room >= 16 {
		drawn += line.Blank(2) + line.Draw(l.Faint, l.Cut(tool.Description.FirstLine(), room))
	}
	return line.Fill(drawn, width)
}

// effect says what calls of a tool do, as its server claims.
func (t *toolList) effect(tool session.OfferedTool) (words string, style lipgloss.Style) {
	switch {
	case tool.ReadOnly:
		return "only reads", t.Styles.Success
	case tool.Destructive:
		return "may destroy", t.Styles.Danger
	}
	return "changes things", t.Styles.Warning
}

// verdict says what the rules decide about calls of a tool, in one column if short.
func (t *toolList) verdict(tool session.OfferedTool, short bool) string {
	if tool.Changed {
		return t.Styles.Glyphs.Gate + " changed"
	}
	switch tool.Verdict {
	case rule.VerdictRun:
		return "runs"
	case rule.VerdictAsk:
		return t.Styles.Glyphs.Gate + " asks"
	case rule.VerdictBlock:
		return t.Styles.Glyphs.Failed + " denied"
	}
	if short {
		return "depends"
	}
	return "depends on its arguments"
}

// permissions describes the effects of a tool's calls and the verdict of the rules.
func (t *toolList) permissions(tool session.OfferedTool) string {
	l := t.Styles
	effect, style := t.effect(tool)
	between := l.Faint.Render(" " + l.Glyphs.Separator + " ")
	return l.Strong.Render(untrusted.Line(tool.Server+":"+tool.Name)) + between + style.Render(effect) + between + l.Muted.Render(t.verdict(tool, false))
}

// write writes a tool with its whole description and its arguments.
func (t *toolList) write(doc *draw.Document, tool session.OfferedTool) {
	l := t.Styles
	doc.Add(l.Cut(t.permissions(tool), doc.Width))
	if tool.Tokens > 0 {
		doc.Prose(l.Faint, "about "+wording.Tokens(tool.Tokens)+" tokens in the window of a model")
	}
	if description := strings.TrimSpace(tool.Description.Visible()); description != "" {
		doc.Blank()
		doc.Prose(l.Text, description)
	}
	takes, err := jsontype.Read(tool.InputSchema)
	if err != nil {
		doc.Heading("arguments")
		doc.Prose(l.Warning, "Its schema of arguments cannot be read: "+err.Error()+".")
		return
	}
	if fields := takes.Flat().Fields; len(fields) > 0 {
		doc.Heading("arguments")
		for _, f := range fields {
			t.argument(doc, f)
		}
	}
}

// argument writes an argument of a tool.
func (t *toolList) argument(doc *draw.Document, f jsontype.Field) {
	l := t.Styles
	words := kindWords(f.Type)
	if f.Required {
		words += ", required"
	}
	if f.Limits != "" {
		words += ", " + untrusted.Line(f.Limits)
	}
	name := l.Accent.Render(untrusted.Line(f.Name)) + l.Muted.Render("  "+words)
	doc.Add(l.Cut(name, doc.Width))
	if f.Description != "" {
		doc.Item("  ", l.Faint, f.Description)
	}
}

// kindWords names the values that an argument takes.
func kindWords(t jsontype.Type) string {
	switch {
	case len(t.Enum) > 0:
		values := make([]string, len(t.Enum))
		for i, v := range t.Enum {
			values[i] = untrusted.Line(fmt.Sprint(v))
		}
		return english.List(values, "or")
	case len(t.Any) > 0:
		forms := make([]string, len(t.Any))
		for i, form := range t.Any {
			forms[i] = kindWords(form)
		}
		return english.List(forms, "or")
	case len(t.Kinds) == 0:
		return "any value"
	}
	words := english.List(t.Kinds, "or")
	if t.Items != nil {
		words += " of " + kindWords(*t.Items)
	}
	return untrusted.Line(words)
}
