package help

import (
	"cmp"
	"strings"
	"time"

	"github.com/muesli/roff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Manual returns the manual page of the program, in the format of man(1). It has its
// commands in their groups, each with the flags that it alone has, then the flags of
// several. Now is its date.
func Manual(root *cobra.Command, now time.Time) string {
	page := roff.NewDocument()
	page.Heading(1, root.Name(), "Commands of "+root.Name(), now)
	page.Section("Name")
	prose(page, root.Name()+" - "+root.Short)
	page.Section("Synopsis")
	page.TextBold(root.Name())
	prose(page, " [GOAL] [flags]")
	page.Paragraph()
	page.TextBold(root.Name())
	prose(page, " COMMAND [flags]")
	page.Section("Description")
	prose(page, root.Long)
	for _, g := range root.Groups() {
		page.Section(g.Title)
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				describe(page, c)
			}
		}
	}
	page.Section("Flags")
	for _, flags := range []*pflag.FlagSet{root.LocalNonPersistentFlags(), root.PersistentFlags()} {
		listFlags(page, root, flags)
	}
	page.Section("Examples")
	for line := range strings.SplitSeq(root.Example, "\n") {
		page.TaggedParagraph(-1)
		prose(page, strings.TrimSpace(line))
	}
	return page.String()
}

// describe writes what a command does, and those below it.
func describe(page *roff.Document, c *cobra.Command) {
	if !c.IsAvailableCommand() {
		return
	}
	name, takes, _ := strings.Cut(c.Use, " ")
	page.TaggedParagraph(-1)
	page.TextBold(strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "))
	if takes != "" {
		prose(page, " ")
		page.TextItalic(strings.ReplaceAll(takes, "%", "%%"))
	}
	page.EndSection()
	prose(page, cmp.Or(c.Long, c.Short, name))
	page.Indent(-1)
	listFlags(page, c, c.LocalNonPersistentFlags())
	page.IndentEnd()
	for _, below := range c.Commands() {
		describe(page, below)
	}
}

// listFlags writes the flags of a command.
func listFlags(page *roff.Document, c *cobra.Command, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" && c.HasParent() {
			return
		}
		r := flagRow(c, f)
		page.TaggedParagraph(-1)
		page.TextBold(r.left)
		page.EndSection()
		prose(page, r.right)
	})
}

// prose writes text as one paragraph. Blanks at its beginning part it from what is before
// it. The document takes text for a format.
func prose(page *roff.Document, text string) {
	words := strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "%", "%%")
	if strings.HasPrefix(text, " ") {
		words = " " + words
	}
	page.Text(words)
}
