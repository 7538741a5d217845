package help

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Layout of the text.
const (
	indent  = 2
	widest  = 24 // of the left column; what is longer gets a line of its own
	between = 2  // columns
)

// page is the text of --help while it is written.
type page struct {
	cmd   *cobra.Command
	width int
	all   bool // rare flags too
	text  strings.Builder
}

// Write writes the help of a command in lines of at most width cells. It has
// styles, which the writer removes where they cannot be shown. The help of the
// program itself is short: it shows the common flags alone unless all is set.
func Write(w io.Writer, cmd *cobra.Command, width int, all bool) error {
	p := &page{cmd: cmd, width: width, all: all}
	p.paragraphs(cmp.Or(cmd.Long, cmd.Short))
	p.usage()
	if cmd.Example != "" && (cmd.HasParent() || all) {
		p.title("Examples")
		p.text.WriteString(cmd.Example + "\n")
	}
	p.commands()
	p.flags()
	p.end()
	_, err := io.WriteString(w, p.text.String())
	return err
}

// title begins a section.
func (p *page) title(name string) {
	p.text.WriteString("\n" + lipgloss.NewStyle().Bold(true).Render(name) + "\n")
}

// paragraphs writes text again to the width. Lines that are indented stay.
func (p *page) paragraphs(text string) {
	var open []string
	flush := func() {
		if len(open) > 0 {
			p.text.WriteString(wrap(strings.Join(open, " "), p.width) + "\n")
		}
		open = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			open = append(open, line)
			continue
		}
		flush()
		p.text.WriteString(line + "\n")
	}
	flush()
}

func (p *page) usage() {
	path := p.cmd.CommandPath()
	if p.short() {
		p.text.WriteString("\n" + lipgloss.NewStyle().Bold(true).Render("Usage") + "  " + p.cmd.Use + " [flags], " + path + " COMMAND [flags]\n")
		return
	}
	p.title("Usage")
	if p.cmd.Annotations[menuKey] == "" {
		_, args, _ := strings.Cut(p.cmd.Use, " ")
		p.text.WriteString("  " + strings.TrimSpace(path+" "+args) + " [flags]\n")
	}
	if p.cmd.HasAvailableSubCommands() {
		p.text.WriteString("  " + path + " COMMAND [flags]\n")
	}
}

// row is a line of two columns.
type row struct{ left, shown, right string }

// wrap breaks text into lines between words.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		size := ansi.StringWidth(word)
		switch {
		case i == 0:
		case at+1+size > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += size
	}
	return b.String()
}

// rows writes lines of two columns. The right one wraps.
func (p *page) rows(rows []row, left int) {
	for _, r := range rows {
		column := strings.Repeat(" ", indent+left+between)
		line := strings.Repeat(" ", indent) + r.shown
		if ansi.StringWidth(r.left) > left {
			p.text.WriteString(line + "\n" + column)
		} else {
			p.text.WriteString(line + strings.Repeat(" ", left-ansi.StringWidth(r.left)+between))
		}
		right := wrap(r.right, max(20, p.width-len(column)))
		p.text.WriteString(strings.ReplaceAll(right, "\n", "\n"+column) + "\n")
	}
}

// leftOf returns the width of the left column.
func leftOf(rows []row) int {
	left := 0
	for _, r := range rows {
		if width := ansi.StringWidth(r.left); width <= widest {
			left = max(left, width)
		}
	}
	return left
}

// commands lists the commands below, in their groups.
func (p *page) commands() {
	var all []row
	groups := map[string][]row{}
	for _, c := range p.cmd.Commands() {
		if !c.IsAvailableCommand() || p.short() && c.Name() == "help" {
			continue
		}
		use := c.Use
		if p.short() {
			use = c.Name()
		}
		r := row{use, lipgloss.NewStyle().Foreground(lipgloss.Cyan).Render(c.Name()) + strings.TrimPrefix(use, c.Name()), c.Short}
		all, groups[c.GroupID] = append(all, r), append(groups[c.GroupID], r)
	}
	left := leftOf(all)
	for _, g := range slices.Concat(p.cmd.Groups(), []*cobra.Group{{Title: "Commands"}}) {
		if len(groups[g.ID]) == 0 {
			continue
		}
		if p.short() && g.ID == Developers {
			p.line(g.Title, groups[g.ID])
			continue
		}
		p.title(g.Title)
		p.rows(groups[g.ID], left)
	}
}

// line names commands in one line behind a title.
func (p *page) line(title string, commands []row) {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.shown
	}
	p.text.WriteString("\n" + lipgloss.NewStyle().Bold(true).Render(title) + "  " + strings.Join(names, ", ") + "\n")
}

// short reports whether only the common flags are shown.
func (p *page) short() bool { return !p.cmd.HasParent() && !p.all }

// shows reports whether a flag is shown here.
func (p *page) shows(f *pflag.Flag) bool {
	if f.Hidden || f.Name == "help" || f.Name == "help-all" || !Concerns(p.cmd, f) {
		return false
	}
	rank := annotation(f, rankKey)
	return p.all || rank == common || rank == "" && !p.short()
}

// flags lists the flags that concern the command, its own first.
func (p *page) flags() {
	groups := map[string][]row{}
	var all []row
	add := func(f *pflag.Flag) {
		if !p.shows(f) {
			return
		}
		title := annotation(f, groupKey)
		r := flagRow(p.cmd, f)
		if p.short() {
			title = ""
			r.right, _, _ = strings.Cut(r.right, "; ")
		}
		groups[title], all = append(groups[title], r), append(all, r)
	}
	for _, flags := range []*pflag.FlagSet{p.cmd.LocalNonPersistentFlags(), p.cmd.PersistentFlags(), p.cmd.InheritedFlags()} {
		flags.SortFlags = false
		flags.VisitAll(add)
	}
	left := leftOf(all)
	for _, title := range []string{"", Goal, Gates, Model, Tools, Workers, Limits, Screen, Output} {
		if len(groups[title]) > 0 {
			p.title(cmp.Or(title, "Flags"))
			p.rows(groups[title], left)
		}
	}
}

// flagRow describes a flag of a command.
func flagRow(cmd *cobra.Command, f *pflag.Flag) row {
	name, value := "--"+f.Name, annotation(f, valueKey)
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	shown := lipgloss.NewStyle().Foreground(lipgloss.Cyan).Render(name)
	if value != "" {
		shown, name = shown+" "+value, name+" "+value
	}
	usage := meaning(cmd, f)
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "0s" && d != "[]" {
		usage += " (default " + d + ")"
	}
	return row{name, shown, usage}
}

// end says where to read on.
func (p *page) end() {
	var lines []string
	if p.cmd.HasAvailableSubCommands() {
		lines = append(lines, p.cmd.CommandPath()+" COMMAND --help is about a command.")
	}
	if !p.all && p.leavesOut() {
		lines = append(lines, "--help-all shows all flags.")
	}
	if len(lines) > 0 {
		p.text.WriteString("\n" + wrap(strings.Join(lines, " "), p.width) + "\n")
	}
}

// leavesOut reports whether --help-all shows more flags.
func (p *page) leavesOut() bool {
	more := false
	p.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		more = more || !f.Hidden && f.Name != "help" && f.Name != "help-all" && Concerns(p.cmd, f) && !p.shows(f)
	})
	return more
}
