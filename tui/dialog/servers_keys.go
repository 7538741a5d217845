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
	hs["dialog.leave"], hs["servers"] = shut, shut
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
		"servers.restart":          {Do: func() keymap.Request { return d.restart(s) }},
		"servers.disable":          {Do: func() keymap.Request { return d.toggle(s, false) }},
		"servers.disable_for_good": {Do: func() keymap.Request { return d.toggle(s, true) }},
		"servers.log":              {Do: func() keymap.Request { return d.open(s, logPage) }},
		"servers.accept":           {Do: func() keymap.Request { return d.askAboutChanges(s) }},
		"servers.take_back":        {Do: func() keymap.Request { return d.takeBack(s) }},
	}
	if s.URL != "" {
		hs["servers.login"] = keymap.Handler{Do: func() keymap.Request { return d.logIn(s) }}
	}
	return hs
}

// restart requests a restart of a server.
func (d *Servers) restart(s *plan.ServerStatus) keymap.Request {
	name := untrusted.Line(s.Name)
	switch {
	case s.State == plan.ServerWaiting:
		d.message = "It waits for your approval: " + d.Keys.Open.Help().Key + " shows the question."
	case s.Declined:
		d.message = "You said no to it; the question opens again."
		return keymap.SendCommands(session.Restart{Server: s.Name})
	case s.Disabled != "":
		d.message = name + " is disabled: " + d.Keys.Name("servers.disable") + " enables it."
	case s.State == plan.ServerStopped:
		d.message = name + " does not start: " + s.Note.Visible() + "."
	case s.BadEntry:
		d.message = name + " cannot start: " + s.Error.Visible() + ". Correct its entry, then press " + d.Keys.Look.Help().Key + "."
	case s.State == plan.ServerStarting && s.Error == "":
		d.message = name + " is starting already."
	default:
		d.message, d.awaited = "Restarting "+name+d.Look.Glyphs.Ellipsis, s.Name
		return keymap.SendCommands(session.Restart{Server: s.Name})
	}
	return keymap.Request{}
}

// askAboutChanges closes the dialog and lets the session ask about what a server has
// changed.
func (d *Servers) askAboutChanges(s *plan.ServerStatus) keymap.Request {
	if s.Changes == 0 {
		d.message = untrusted.Line(s.Name) + " has changed nothing since you accepted it."
		return keymap.Request{}
	}
	d.Close()
	return keymap.SendCommands(session.AskAboutChanges{Server: s.Name})
}

// takeBack requests to stop a server of the project that the user has allowed.
func (d *Servers) takeBack(s *plan.ServerStatus) keymap.Request {
	name := untrusted.Line(s.Name)
	if !s.Allowed {
		d.message = name + " is no server of the project that you have allowed."
		return keymap.Request{}
	}
	d.message = "You took back your yes to " + name + "; " + d.Keys.Name("servers.restart") + " asks again."
	return keymap.SendCommands(session.Revoke{Server: s.Name})
}

// logIn requests a login to a server, or cancels the one to it that is under way.
func (d *Servers) logIn(s *plan.ServerStatus) keymap.Request {
	if d.login.Server == s.Name {
		d.message = "The login is cancelled."
		return keymap.SendCommands(session.CancelLogin{})
	}
	d.message = "Asking " + untrusted.Line(s.Name) + " where to log in" + d.Look.Glyphs.Ellipsis
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
	switch {
	case s.Transport == "built-in":
		d.message = name + " is part of replan and cannot be disabled here."
		return keymap.Request{}
	case s.Disabled == "", s.Disabled == plan.DisabledForNow && forGood:
		d.message, d.awaited = "Disabling "+name+d.Look.Glyphs.Ellipsis, s.Name
		return keymap.SendCommands(session.Disable{Server: s.Name, ForGood: forGood})
	}
	d.message, d.awaited = "Enabling "+name+d.Look.Glyphs.Ellipsis, s.Name
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
	hs := keymap.Handlers{"dialog.leave": back, "models.think_less": back, "servers": {Do: keymap.Just(d.Close)}}
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
		return append(hints, d.offers.hints()...)
	}
	return append(hints, d.Keys.Hint("scroll", "move.up", "move.down"), d.Keys.Hint("restart", "servers.restart"))
}

// title names the page in view and, if there is room, those beside it.
func (d *Servers) title(s *plan.ServerStatus, width int) string {
	l := d.Look
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
