package draw

import (
	"slices"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/patch"
)

// Diff adds a unified diff. Diff lays it out at once but draws rows only as they come into
// view. So a long diff opens as fast as a short one.
func (d *Document) Diff(text string) { d.patch(patch.Parse(text)) }

// Hunks adds a unified diff of one file without its name.
func (d *Document) Hunks(text string) {
	p := patch.Parse(text)
	p.Lines = slices.DeleteFunc(p.Lines, func(l patch.Line) bool { return l.Kind == patch.Heading })
	d.patch(p)
}

// patch adds a diff and returns where its changed lines are.
func (d *Document) patch(p patch.Patch) []Range {
	rows := NewDiffRows(d.Styles, d.Width, p)
	from := len(d.Lines)
	d.later(rows.Count(), rows.row)
	d.Diffs = d.Diffs || rows.Count() > 0
	d.files, d.hunks = append(d.files, rows.starting(patch.Heading, from)...), append(d.hunks, rows.starting(patch.Hunk, from)...)
	return rows.changes(from)
}

// mostFiles is how many files of a diff are listed before it.
const mostFiles = 8

// Changes adds a diff and returns where each of its changed lines is, in order. If
// the diff covers several files, the size of the change and the files come first.
func (d *Document) Changes(text string) []Range {
	p := patch.Parse(text)
	if len(p.Files) > 1 {
		d.Add(d.Styles.Cut(d.Styles.Muted.Render(english.Count(len(p.Files), "file"))+" "+d.Styles.ChangeCount(p.Added, p.Removed), d.Width))
		d.fileList(p.Files)
	}
	return d.patch(p)
}

// fileList lists the files of a diff with the size of their changes.
func (d *Document) fileList(files []patch.File) {
	l, shown := d.Styles, len(files)
	if shown > mostFiles {
		shown = mostFiles - 1
	}
	for _, f := range files[:shown] {
		count := "  " + l.ChangeCount(f.Added, f.Removed)
		d.Add("  " + l.CutLeft(untrusted.Line(f.Name()), d.Width-2-VisibleWidth(count)) + count)
	}
	if more := len(files) - shown; more > 0 {
		d.Add(l.Faint.Render("  and " + english.Count(more, "more file")))
	}
	d.Blank()
}
