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
		return d.onPage()
	}
	hs := serversActions().For(d)
	if d.chosen() != nil {
		hs = hs.With(listedActions().For(d), serverActions().For(d), d.Moving(false, len(d.servers)))
	}
	return hs.First(d.nextKey)
}

// serversActions are the actions of the list of servers.
func serversActions() keymap.Table[*Servers] {
	return keymap.Table[*Servers]{
		{ID: "look", Do: reread},
		closing[*Servers]("dialog.leave"),
		closing[*Servers]("servers"),
	}
}

// listedActions are the actions of the list on the chosen server.
func listedActions() keymap.Table[*Servers] {
	return keymap.Table[*Servers]{
		{ID: "plan.open", Do: server((*Servers).enter)},
		{ID: "models.think_more", Do: func(d *Servers) keymap.Requests { return d.open(d.chosen(), toolsPage) }},
		{ID: "list.search", Do: keymap.Calls((*Servers).searchTools)},
	}
}

// enter shows the tools of a server, or the question that it waits for.
func (d *Servers) enter(s *plan.ServerStatus) keymap.Requests {
	if s.State == plan.ServerWaiting {
		d.Close()
		return keymap.Requests{keymap.ShowGate{}}
	}
	return d.open(s, toolsPage)
}

// searchTools lets the user search the tools of all servers.
func (d *Servers) searchTools() {
	d.page = toolsPage
	d.offers.open("")
	d.offers.searching = true
}

// serverActions are the actions on the chosen server, in the list and on its pages.
func serverActions() keymap.Table[*Servers] {
	return keymap.Table[*Servers]{
		{ID: "servers.restart", Keys: "r", Does: "restart the chosen server", Refuse: func(d *Servers) string { return d.noRestart(d.chosen()) }, Do: server((*Servers).restart)},
		{ID: "servers.login", Keys: "l", Does: "log in to the chosen server", When: func(d *Servers) bool { return d.chosen().URL != "" }, Do: server((*Servers).logIn)},
		{ID: "servers.disable", Keys: "d", Does: "disable the chosen server for now, or enable it", Refuse: because(builtIn), Do: toggle(false)},
		{ID: "servers.disable_for_good", Keys: "D", Does: "disable the chosen server for good, or enable it", Refuse: because(builtIn), Do: toggle(true)},
		{ID: "servers.log", Keys: "v", Does: "show the log of the chosen server", Do: func(d *Servers) keymap.Requests { return d.open(d.chosen(), logPage) }},
		{ID: "servers.accept", Keys: "a", Does: "see and accept changes of the chosen server", Refuse: because(unchanged), Do: server((*Servers).askAboutChanges)},
		{ID: "servers.take_back", Keys: "w", Does: "take back your yes to the chosen server", Refuse: because(noYes), Do: server((*Servers).takeBack)},
	}
}

// server makes an action on the chosen server.
func server(do func(*Servers, *plan.ServerStatus) keymap.Requests) func(*Servers) keymap.Requests {
	return func(d *Servers) keymap.Requests { return do(d, d.chosen()) }
}

// toggle makes an action that disables the chosen server, or enables it.
func toggle(forGood bool) func(*Servers) keymap.Requests {
	return func(d *Servers) keymap.Requests { return d.toggle(d.chosen(), forGood) }
}

// because returns why an action on the chosen server is unavailable.
func because(why func(*plan.ServerStatus) string) func(*Servers) string {
	return func(d *Servers) string { return why(d.chosen()) }
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
func (d *Servers) restart(s *plan.ServerStatus) keymap.Requests {
	if d.say("You said no to it; the question opens again."); !s.Declined {
		d.say("Restarting " + untrusted.Line(s.Name) + d.Styles.Glyphs.Ellipsis)
		d.awaited = s.Name
	}
	return keymap.SendCommands(session.Restart{Server: s.Name})
}

// reread requests to read the files of the servers again.
func reread(*Servers) keymap.Requests {
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
func (d *Servers) askAboutChanges(s *plan.ServerStatus) keymap.Requests {
	d.Close()
	return keymap.SendCommands(session.AskAboutChanges{Server: s.Name})
}

// takeBack requests to stop a server of the project that the user has allowed.
func (d *Servers) takeBack(s *plan.ServerStatus) keymap.Requests {
	d.say("You took back your yes to " + untrusted.Line(s.Name) + "; " + d.Keys.Name("servers.restart") + " asks again.")
	return keymap.SendCommands(session.Revoke{Server: s.Name})
}

// logIn requests a login to a server, or cancels the one to it that is under way.
func (d *Servers) logIn(s *plan.ServerStatus) keymap.Requests {
	if d.login.Server == s.Name {
		d.say("The login is canceled.")
		return keymap.SendCommands(session.CancelLogin{})
	}
	d.say("Asking " + untrusted.Line(s.Name) + " where to log in" + d.Styles.Glyphs.Ellipsis)
	return keymap.SendCommands(session.Login{Server: s.Name})
}

// LoggedIn shows the progress of a login.
func (d *Servers) LoggedIn(p session.LoginProgress) {
	d.login = p
	d.details.redraw()
	switch {
	case p.Problem != "":
		d.say(p.Problem.Line())
	case p.Address != "" || p.Ended && !p.Canceled:
		d.forget()
	}
	if p.Ended {
		d.login = session.LoginProgress{}
	}
}

// toggle requests to disable a server, or to enable a disabled one.
func (d *Servers) toggle(s *plan.ServerStatus, forGood bool) keymap.Requests {
	name := untrusted.Line(s.Name)
	if s.Disabled == "" || s.Disabled == plan.DisabledForNow && forGood {
		d.say("Disabling " + name + d.Styles.Glyphs.Ellipsis)
		d.awaited = s.Name
		return keymap.SendCommands(session.Disable{Server: s.Name, ForGood: forGood})
	}
	d.say("Enabling " + name + d.Styles.Glyphs.Ellipsis)
	d.awaited = s.Name
	return keymap.SendCommands(session.Enable{Server: s.Name})
}

// open shows a page of a server.
func (d *Servers) open(s *plan.ServerStatus, page serverPage) keymap.Requests {
	d.log.close()
	d.page = page
	switch page {
	case toolsPage:
		d.offers.open(s.Name)
	case logPage:
		d.offers.server = s.Name
		return keymap.Requests{d.log.follow(s.Name)}
	case detailsPage:
		d.offers.server = s.Name
		d.details.reset()
	}
	return nil
}

// leavePage returns to the list.
func (d *Servers) leavePage() {
	d.log.close()
	d.page, d.offers.searching = listPage, false
}

// pageActions are the actions of the page of a server, or of the tools of all.
func pageActions() keymap.Table[*Servers] {
	return keymap.Table[*Servers]{
		{ID: "look", Do: reread},
		{ID: "dialog.leave", Do: keymap.Calls((*Servers).leavePage)},
		{ID: "models.think_less", Do: keymap.Calls((*Servers).leavePage)},
		closing[*Servers]("servers"),
	}
}

// pagedActions are the actions that show another page of a server.
func pagedActions() keymap.Table[*Servers] {
	return keymap.Table[*Servers]{
		{ID: "list.other", Do: server((*Servers).turnPage)},
	}
}

// turnPage shows the next page of a server.
func (d *Servers) turnPage(s *plan.ServerStatus) keymap.Requests {
	return d.open(s, max(d.page%(serverPages-1)+1, toolsPage))
}

// onPage returns the actions of the page in view.
func (d *Servers) onPage() keymap.Handlers {
	hs := pageActions().For(d)
	if d.chosen() != nil && d.offers.server != "" {
		hs = hs.With(serverActions().For(d), pagedActions().For(d))
	}
	switch d.page {
	case toolsPage:
		hs = d.offers.actions(hs)
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
