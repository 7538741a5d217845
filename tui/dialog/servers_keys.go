package dialog

import (
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/keymap"
)

// Actions returns the actions of the dialog.
func (d *Servers) Actions() keymap.Handlers {
	if d.page != listPage {
		return d.pageActions()
	}
	hs := d.closing("servers")
	shut := keymap.Handler{Do: keymap.Just(d.Close)}
	hs["dialog.leave"], hs["servers"], hs["look"] = shut, shut, keymap.Handler{Do: reread}
	s := d.chosen()
	if s == nil {
		return hs.First(d.nextKey)
	}
	open := keymap.Handler{Do: func() keymap.Request { return d.open(s, toolsPage) }}
	hs["plan.open"], hs["models.think_more"] = open, open
	if s.State == plan.ServerWaiting {
		hs["plan.open"] = keymap.Handler{Do: func() keymap.Request {
			d.Close()
			return keymap.Request{Gate: true}
		}}
	}
	hs["list.search"] = keymap.Handler{Do: keymap.Just(func() {
		d.page = toolsPage
		d.offers.open("")
		d.offers.searching = true
	})}
	return hs.With(d.serverActions(s), d.Moving(false, len(d.servers))).First(d.nextKey)
}

// serverActions returns the actions on a server, in the list and on its pages.
func (d *Servers) serverActions(s *plan.ServerStatus) keymap.Handlers {
	hs := keymap.Handlers{
		"servers.restart":          {Refuse: func() string { return d.noRestart(s) }, Do: func() keymap.Request { return d.restart(s) }},
		"servers.disable":          {Refuse: func() string { return builtIn(s) }, Do: func() keymap.Request { return d.toggle(s, false) }},
		"servers.disable_for_good": {Refuse: func() string { return builtIn(s) }, Do: func() keymap.Request { return d.toggle(s, true) }},
		"servers.log":              {Do: func() keymap.Request { return d.open(s, logPage) }},
		"servers.accept":           {Refuse: func() string { return unchanged(s) }, Do: func() keymap.Request { return d.askAboutChanges(s) }},
		"servers.take_back":        {Refuse: func() string { return noYes(s) }, Do: func() keymap.Request { return d.takeBack(s) }},
	}
	if s.URL != "" {
		hs["servers.login"] = keymap.Handler{Do: func() keymap.Request { return d.logIn(s) }}
	}
	return hs
}

// noRestart returns why a server cannot be restarted.
func (d *Servers) noRestart(s *plan.ServerStatus) string {
	name := untrusted.Line(s.Name)
	switch {
	case s.State == plan.ServerWaiting:
		return "It waits for your approval: " + d.Keys.Shown("plan.open") + " shows the question."
	case s.Declined:
		return ""
	case s.Disabled != "":
		return name + " is disabled: " + d.Keys.Name("servers.disable") + " enables it."
	case s.State == plan.ServerStopped:
		return name + " does not start: " + s.Note.Line() + "."
	case s.BadEntry:
		return name + " cannot start: correct its entry, then press " + d.Keys.Shown("look") + "."
	case s.State == plan.ServerStarting && s.Error == "":
		return name + " is starting already."
	}
	return ""
}

// restart requests a restart of a server, or the question about one that the user
// refused.
func (d *Servers) restart(s *plan.ServerStatus) keymap.Request {
	if d.message = "You said no to it; the question opens again."; !s.Declined {
		d.message, d.awaited = "Restarting "+untrusted.Line(s.Name)+d.Styles.Glyphs.Ellipsis, s.Name
	}
	return keymap.SendCommands(session.Restart{Server: s.Name})
}

// reread requests to read the files of the servers again.
func reread() keymap.Request {
	return keymap.SendCommands(session.Recheck{})
}

// restartHint names the key that starts a server again.
func (d *Servers) restartHint(s *plan.ServerStatus) keymap.Hint {
	if s.Declined {
		return d.Keys.Hint("ask again", "servers.restart")
	}
	return d.Keys.Hint("restart", "servers.restart")
}

// builtIn returns why a server cannot be disabled.
func builtIn(s *plan.ServerStatus) string {
	if s.Transport == "built-in" {
		return untrusted.Line(s.Name) + " is part of replan and cannot be disabled here."
	}
	return ""
}

// unchanged says that a server has changed nothing, "" if it has.
func unchanged(s *plan.ServerStatus) string {
	if s.Changes == 0 {
		return untrusted.Line(s.Name) + " has changed nothing since you accepted it."
	}
	return ""
}

// noYes says that the user has no yes to take back, "" if there is one.
func noYes(s *plan.ServerStatus) string {
	if !s.Allowed {
		return untrusted.Line(s.Name) + " is no server of the project that you have allowed."
	}
	return ""
}

// askAboutChanges closes the dialog and lets the session ask about what a server has
// changed.
func (d *Servers) askAboutChanges(s *plan.ServerStatus) keymap.Request {
	d.Close()
	return keymap.SendCommands(session.AskAboutChanges{Server: s.Name})
}

// takeBack requests to stop a server of the project that the user has allowed.
func (d *Servers) takeBack(s *plan.ServerStatus) keymap.Request {
	d.message = "You took back your yes to " + untrusted.Line(s.Name) + "; " + d.Keys.Name("servers.restart") + " asks again."
	return keymap.SendCommands(session.Revoke{Server: s.Name})
}

// logIn requests a login to a server, or cancels the one to it that is under way.
func (d *Servers) logIn(s *plan.ServerStatus) keymap.Request {
	if d.login.Server == s.Name {
		d.message = "The login is canceled."
		return keymap.SendCommands(session.CancelLogin{})
	}
	d.message = "Asking " + untrusted.Line(s.Name) + " where to log in" + d.Styles.Glyphs.Ellipsis
	return keymap.SendCommands(session.Login{Server: s.Name})
}

// LoggedIn shows the progress of a login.
func (d *Servers) LoggedIn(p session.LoginProgress) {
	d.login, d.details.doc = p, nil
	switch {
	case p.Problem != "":
		d.message = p.Problem.Line()
	case p.Address != "" || p.Ended && !p.Cancelled:
		d.message = ""
	}
	if p.Ended {
		d.login = session.LoginProgress{}
	}
}

// toggle requests to disable a server, or to enable a disabled one.
func (d *Servers) toggle(s *plan.ServerStatus, forGood bool) keymap.Request {
	name := untrusted.Line(s.Name)
	if s.Disabled == "" || s.Disabled == plan.DisabledForNow && forGood {
		d.message, d.awaited = "Disabling "+name+d.Styles.Glyphs.Ellipsis, s.Name
		return keymap.SendCommands(session.Disable{Server: s.Name, ForGood: forGood})
	}
	d.message, d.awaited = "Enabling "+name+d.Styles.Glyphs.Ellipsis, s.Name
	return keymap.SendCommands(session.Enable{Server: s.Name})
}

// open shows a page of a server.
func (d *Servers) open(s *plan.ServerStatus, page serverPage) keymap.Request {
	d.log.close()
	d.page = page
	switch page {
	case toolsPage:
		d.offers.open(s.Name)
	case logPage:
		d.offers.server = s.Name
		return keymap.Request{Ask: d.log.follow(s.Name)}
	case detailsPage:
		d.offers.server = s.Name
		d.details.reset()
	}
	return keymap.Request{}
}

// leavePage returns to the list.
func (d *Servers) leavePage() {
	d.log.close()
	d.page, d.offers.searching = listPage, false
}

// pageActions returns the actions of the page of a server, or of the tools of all.
func (d *Servers) pageActions() keymap.Handlers {
	back := keymap.Handler{Do: keymap.Just(d.leavePage)}
	hs := keymap.Handlers{"dialog.leave": back, "models.think_less": back, "servers": {Do: keymap.Just(d.Close)}, "look": {Do: reread}}
	s := d.chosen()
	if s != nil && d.offers.server != "" {
		other := keymap.Handler{Do: func() keymap.Request { return d.open(s, max(d.page%(serverPages-1)+1, toolsPage)) }}
		hs = hs.With(d.serverActions(s), keymap.Handlers{"list.other": other})
	}
	switch d.page {
	case toolsPage:
		hs = d.offers.actions(hs, d.leavePage)
	case logPage:
		hs = hs.With(d.log.keys())
	case detailsPage:
		hs = hs.With(d.details.keys())
	}
	return hs.First(d.nextKey)
}

// pageHints lists the keys of the page of a server, or of the tools of all.
func (d *Servers) pageHints() []keymap.Hint {
	if d.page == toolsPage && (d.offers.searching || d.offers.opened != nil) {
		return d.offers.hints()
	}
	leaves := "list"
	if d.page == toolsPage && d.offers.query != "" {
		leaves = "show all"
	}
	hints := []keymap.Hint{d.Keys.Hint(leaves, "dialog.leave")}
	if d.offers.server != "" {
		next := []string{"", "log", "details", "tools"}[d.page]
		hints = append(hints, d.Keys.Hint(next, "list.other"))
	}
	if d.page == toolsPage {
		hints = append(hints, d.offers.hints()...)
	} else {
		hints = append(hints, d.Keys.Hint("scroll", "move.up", "move.down"))
	}
	if s := d.chosen(); s != nil && d.offers.server != "" {
		hints = append(hints, d.Keys.Hint("see what changed", "servers.accept"), d.restartHint(s))
	}
	return hints
}

// title names the page in view and, if there is room, those beside it.
func (d *Servers) title(s *plan.ServerStatus, width int) string {
	l := d.Styles
	if d.offers.server == "" || s == nil {
		return l.Strong.Render("Tools of all servers")
	}
	glyph, word, style := d.state(*s)
	between, pages := l.Faint.Render(" "+l.Glyphs.Separator+" "), []string{"tools", "log", "details"}
	if width < 60 {
		return style.Render(glyph) + " " + l.Strong.Render(untrusted.Line(s.Name)) + between + l.Accent.Render(pages[d.page-1])
	}
	return style.Render(glyph) + " " + l.Strong.Render(untrusted.Line(s.Name)) + between + style.Render(word) +
		"  " + d.tabs(int(d.page)-1, pages...)
}
