package dialog

import (
	"cmp"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// PalettePage is what the palette offers, as it stands when the palette opens. It
// asks the session for the rest.
type PalettePage struct {
	Groups []keymap.Group
	Here   keymap.Place // where it was opened from; actions of that place come first
	Themes *themes.Set
	Theme  themes.Name    // in use
	Goals  []string       // examples that fit this folder
	Folder untrusted.Text // workspace
	Replay bool           // the session takes nothing

	Now     []string                 // actions that fit the moment, the most fitting first
	Rare    []string                 // actions that are of no use now as far as is known; only a search lists them
	Busy    bool                     // a run is active
	NoStop  string                   // why no run can be stopped, or ""
	NoModel func(goal string) string // why a goal cannot be reached without a model, or ""

	NoText  func() string                     // why no text can be put into the input, or ""
	Type    func(text string) keymap.Requests // puts a text into the input
	Mention func(path string) keymap.Requests // attaches a file to what is typed
}

// command is an entry of the palette.
type command struct {
	id     string // of an action
	group  group
	now    int    // place among what fits the moment
	title  string // begins with a verb
	detail string
	keys   string // its keys, or the chat command
	why    string // why it is unavailable, or ""
	do     func() keymap.Requests

	text string // what a search matches, in lower case
	lit  []int  // byte offsets of the match in the title
}

// gather lists every entry in the order that is shown without a search.
func (d *Palette) gather() {
	typed := func(g keymap.Group) bool { return g.Place == keymap.PlaceCommand }
	keyed := slices.DeleteFunc(slices.Clone(d.page.Groups), typed)
	d.all = slices.Concat(d.actions(keyed), d.goals(), d.runCommands(), d.planCommands(), d.modelCommands(), d.themeCommands(),
		d.actions(slices.DeleteFunc(slices.Clone(d.page.Groups), func(g keymap.Group) bool { return !typed(g) })))
	d.fitting()
	d.arrange()
	for _, list := range [][]command{d.all, d.files} {
		for i := range list {
			list[i].text = strings.ToLower(list[i].title + "  " + list[i].detail + "  " + list[i].keys)
		}
	}
}

// unavailable returns 1 for an entry that cannot be chosen, else 0.
func unavailable(c command) int {
	if c.why != "" {
		return 1
	}
	return 0
}

// actions returns the actions that are more than a key, those of the current place
// first.
func (d *Palette) actions(groups []keymap.Group) []command {
	rank := func(p keymap.Place) int {
		switch {
		case p == d.page.Here && p != keymap.PlaceChat:
			return 0
		case p == keymap.PlaceEverywhere:
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(groups, func(a, b keymap.Group) int { return cmp.Compare(rank(a.Place), rank(b.Place)) })
	var all []command
	seen := map[string]bool{}
	for _, g := range groups {
		if !g.Place.Acts() {
			continue
		}
		of := len(all)
		for i := range g.Actions {
			a := &g.Actions[i]
			if a.KeyOnly || seen[a.ID] {
				continue
			}
			seen[a.ID] = true
			c := command{id: a.ID, group: groupOf(a.ID), keys: a.Key.Help().Key, why: a.Refusal(), do: func() keymap.Requests { return keymap.Requests{keymap.DoAction(a.ID)} }}
			c.title, c.detail = words(a.Key.Help().Desc)
			switch {
			case slices.Contains(d.page.Rare, a.ID):
				c.group = groupSearched
			case g.Place == keymap.PlaceCommand:
				c.group = groupCommands
			case a.ID == "run.stop":
				c.why = cmp.Or(c.why, d.page.NoStop) // its key leads back then
			}
			all = append(all, c)
		}
		if g.Place.Answers() && !slices.ContainsFunc(all[of:], func(c command) bool { return c.why == "" }) {
			all = all[:of] // nothing is open that could be answered
		}
	}
	return all
}

// words splits the description of an action into a title and a detail.
func words(does string) (title, detail string) {
	title, detail, _ = strings.Cut(does, "; ")
	if before, _, found := strings.Cut(title, " ("); found {
		title = before // lists other keys
	}
	return english.Capital(title), detail
}

// goals returns the goals that fit the folder, and orders that need no model.
func (d *Palette) goals() []command {
	if d.page.Replay {
		return nil
	}
	var all []command
	for _, goal := range d.page.Goals {
		all = append(all, d.sends(english.Capital(untrusted.Line(goal)), goal))
	}
	return append(all, d.sends("Commit changes", "commit"), d.sends("Show changes", "show changes"))
}

// sends returns an entry that sends a goal.
func (d *Palette) sends(title, goal string) command {
	return command{group: groupGoals, title: title, detail: "sends this goal", why: d.page.NoModel(goal), do: func() keymap.Requests {
		return keymap.Requests{keymap.Focus(keymap.PlaceChat), keymap.ScrollToEnd{}, session.Submit{Text: goal}}
	}}
}

// ofFolder returns the runs of the workspace, the newest first.
func (d *Palette) ofFolder() []agent.Summary {
	return slices.DeleteFunc(slices.Clone(d.summaries), func(s agent.Summary) bool {
		return d.page.Folder != "" && s.Workspace != "" && untrusted.Text(s.Workspace) != d.page.Folder
	})
}

// resumeRun begins the title of an entry that resumes a run.
const resumeRun = "Resume run: "

// runCommands returns entries for the newest runs of the folder.
func (d *Palette) runCommands() []command {
	const newest, listed = 20, 4
	runs := d.ofFolder()
	var resume, open []command
	for i, s := range runs[:min(len(runs), newest)] {
		under := groupRuns
		if i >= listed {
			under = groupSearched
		}
		_, state, _ := d.runs.State(s)
		what := cmp.Or(runWords(d.Styles, s), wording.ShortID(s.Run))
		detail := state + ", " + wording.Ago(d.Styles.Since(s.Started))
		if CanResume(s, d.runs.active(s)) {
			resume = append(resume, command{group: under, title: resumeRun + what, detail: detail, do: func() keymap.Requests {
				return keymap.SendCommands(session.Resume{Run: s.Run})
			}})
		}
		open = append(open, command{group: under, title: "Open run: " + what, detail: detail, do: func() keymap.Requests {
			return keymap.Requests{keymap.Recall{Run: s.Run, AtEnd: true}, keymap.QueryJournal(s.Run)}
		}})
	}
	return append(resume, open...)
}

// planCommands returns entries for the saved plans. A chosen one goes into the input.
func (d *Palette) planCommands() []command {
	var all []command
	for _, p := range d.plans {
		all = append(all, command{group: groupPlans, title: "Run plan: " + untrusted.Line(p.Text), detail: p.Detail.Line(), why: d.page.NoText(), do: func() keymap.Requests {
			return d.page.Type("/plan run " + p.Text)
		}})
	}
	return all
}

// modelCommands returns entries for the models that can answer, and the profiles.
func (d *Palette) modelCommands() []command {
	var all []command
	for _, m := range d.available.Models {
		if !m.Chats {
			continue
		}
		facts := slices.DeleteFunc(modelFacts(m, prompt.SameModel(m.Name, d.available.Planner), false), func(s string) bool { return s == "" })
		c := command{title: "Switch model: " + untrusted.Line(m.Name), detail: strings.Join(facts, ", "), do: func() keymap.Requests {
			return keymap.SendCommands(session.Choose{Model: &m.Name})
		}}
		if prompt.SameModel(m.Name, d.available.Model) {
			c.why = "This is the current model."
		}
		all = append(all, c)
	}
	for _, p := range d.available.Profiles {
		c := command{title: "Switch profile: " + untrusted.Line(p.Name), detail: p.Description.Line(), do: func() keymap.Requests {
			return keymap.SendCommands(session.Choose{Profile: &p.Name})
		}}
		if p.Name == d.available.Profile {
			c.why = "This is the current profile."
		}
		all = append(all, c)
	}
	return all
}

// themeCommands returns entries for the themes.
func (d *Palette) themeCommands() []command {
	add := func(name themes.Name, detail string) command {
		c := command{title: "Switch theme: " + string(name), detail: detail, do: func() keymap.Requests {
			value := string(name)
			w := keymap.Requests{keymap.ShowTheme(name)}
			if !d.page.Replay {
				w = append(w, session.SaveSetting{Key: "screen.theme", Value: &value})
			}
			return w
		}}
		if name == d.page.Theme {
			c.why = "This is the current theme."
		}
		return c
	}
	all := []command{add(themes.Auto, "dark or light like the terminal")}
	for _, t := range d.page.Themes.All() {
		kind, about := "light", untrusted.Line(t.About)
		if t.Dark {
			kind = "dark"
		}
		if !strings.Contains(string(t.Name)+about, kind) {
			about = kind + ", " + about
		}
		all = append(all, add(t.Name, about))
	}
	return all
}

// store keeps an answer of the session.
func (d *Palette) store(msg any) {
	switch a := msg.(type) {
	case keymap.AnswerMsg[session.Models]:
		d.available = a.Value
	case keymap.AnswerMsg[[]agent.Summary]:
		d.summaries = a.Value
	case keymap.AnswerMsg[session.Completions]:
		switch a.Value.Of {
		case session.CompletePlans:
			d.plans = a.Value.Items
		case session.CompleteFiles:
			d.files = nil
			for _, f := range a.Value.Items {
				d.files = append(d.files, command{title: "Mention " + untrusted.Line(f.Text), do: func() keymap.Requests { return d.page.Mention(f.Text) }})
			}
		default:
			return
		}
	default:
		return
	}
	if d.Shown() {
		d.gather()
		d.find()
	}
}
