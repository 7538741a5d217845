package dialog

import (
	"cmp"
	"slices"
	"strings"
)

// group is a heading of the palette, under which entries are listed without a search.
type group string

// The headings, in their order. An entry without one is only found by a search.
const (
	groupNow      group = "Now" // what fits the moment
	groupGate     group = "Gate"
	groupQuestion group = "Question"
	groupSession  group = "Session"
	groupPlan     group = "Plan"
	groupView     group = "View"
	groupModels   group = "Models"
	groupSettings group = "Settings"
	groupGoals    group = "Goals"
	groupRuns     group = "Runs"
	groupPlans    group = "Plans"
	groupCommands group = "Commands"
	groupSearched group = ""
)

var groups = []group{groupNow, groupGate, groupQuestion, groupSession, groupPlan, groupView, groupModels, groupSettings, groupGoals, groupRuns, groupPlans, groupCommands}

// groupWidth is the width of the column of headings in cells.
const groupWidth = 10

// groupsOf gives actions their headings: by their whole id, or by what is before its dot.
var groupsOf = map[string]group{
	"gate": groupGate, "question": groupQuestion,
	"run": groupSession, "chat": groupSession, "quit": groupSession, "replay": groupSession, "runs": groupSession, "servers.skip": groupSession,
	"plan": groupPlan, "step": groupPlan, "review": groupPlan, "revisions": groupPlan, "gate.allowed": groupPlan,
	"pane": groupView, "themes": groupView, "help": groupView, "diff": groupView, "chat.thinking": groupView, "chat.thinking_all": groupView, "chat.unfold": groupView, "chat.find": groupView,
	"models": groupModels, "exchanges": groupModels,
	"settings": groupSettings, "servers": groupSettings, "look": groupSettings,
}

// groupOf returns the heading of an action.
func groupOf(id string) group {
	if g, ok := groupsOf[id]; ok {
		return g
	}
	kind, _, _ := strings.Cut(id, ".")
	return cmp.Or(groupsOf[kind], groupSession)
}

// rank returns the place of a heading, the last for none.
func (g group) rank() int {
	if at := slices.Index(groups, g); at >= 0 {
		return at
	}
	return len(groups)
}

// mostNow is the maximum number of entries that fit the moment, and mostRecent that of
// those among them that were chosen before.
const (
	mostNow    = 8
	mostRecent = 3
)

// fitting moves what fits the moment to the first heading: what the screen says, then what was
// chosen before, then the run that can be resumed and the goals of the folder.
func (d *Palette) fitting() {
	count := 0
	take := func(most int, fits func(c command) bool) {
		for i := range d.all {
			if c := &d.all[i]; most > 0 && count < mostNow && c.why == "" && c.group != groupNow && !slices.Contains(d.page.Rare, c.id) && fits(*c) {
				c.group, c.now = groupNow, count
				count, most = count+1, most-1
			}
		}
	}
	for _, id := range d.page.Now {
		take(1, func(c command) bool { return c.id == id })
	}
	recent := 0
	for _, title := range d.recent {
		if before := count; recent < mostRecent {
			take(1, func(c command) bool { return c.title == title })
			recent += count - before
		}
	}
	if d.page.Busy {
		return
	}
	take(1, func(c command) bool { return strings.HasPrefix(c.title, resumeRun) })
	take(mostNow, func(c command) bool { return c.group == groupGoals })
}

// arrange puts the entries under their headings. The actions of the place from which the palette was opened follow what fits the moment.
func (d *Palette) arrange() {
	place := func(c command) int {
		if c.group == groupPlan && d.page.Here.OfPlan() {
			return 0
		}
		return c.group.rank()
	}
	slices.SortStableFunc(d.all, func(a, b command) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.now, b.now))
	})
}

// listed returns the entries that have a heading and can be chosen. A search also finds the
// others, and says why they cannot.
func (d *Palette) listed() []command {
	return slices.DeleteFunc(slices.Clone(d.all), func(c command) bool { return c.group == groupSearched || c.why != "" })
}

// heading draws the cell of the column of headings before the entry i: the heading of the first
// row in view, and of the first entry under it.
func (d *Palette) heading(i int) string {
	g := d.found[i].group
	if i > d.Top && d.found[i-1].group == g {
		g = ""
	}
	return d.Styles.Fit(d.Styles.Muted.Render(string(g)), groupWidth)
}
